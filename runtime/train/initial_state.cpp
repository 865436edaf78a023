// Tensors of files by the names of inputs.
#include "runtime/train/initial_state.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/data/feed.h"
#include "runtime/train/generator.h"

namespace sgd::train {
namespace {

using FindInput = std::function<std::optional<size_t>(const std::string&)>;

// Takes every tensor of `file` as an input's initial value.
absl::Status TakeInitial(const FilePtr& file, const FindInput& find, Job& job) {
  std::set<size_t> taken;
  for (const data::TensorEntry& entry : file->tensors()) {
    std::optional<size_t> input = find(entry.name);
    if (!input) {
      return absl::InvalidArgumentError(absl::StrCat(file->path(), ": tensor ", data::QuotedName(entry.name),
                                                     ": program ", data::QuotedName(job.program.name),
                                                     " has no such input"));
    }
    absl::Status status = data::CheckTensor(*file, entry, job.program.inputs[*input]);
    if (!status.ok()) return status;
    if (!taken.insert(*input).second) {
      return absl::InvalidArgumentError(absl::StrCat(file->path(), ": tensor ", data::QuotedName(entry.name), ": ",
                                                     InputText(job.program, *input), " occurs twice"));
    }
    job.initial[*input] = FileTensor{file, &entry};
  }
  return absl::OkStatus();
}

// State that was trained by one carry and goes on by another would be of neither.
absl::Status CheckCarryOfCheckpoint(const std::string& path, const std::string& carry, bool is_asked_for, Job& job) {
  if (carry.empty() || carry == job.carry_hash) return absl::OkStatus();
  if (!is_asked_for) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": was trained with other outputs as the next step's inputs than these; say the --carry of that run again"));
  }
  job.notes.push_back("--carry differs from that of the checkpoint");
  return absl::OkStatus();
}

}  // namespace

absl::Status TakeFile(const std::string& path, Job& job) {
  if (path.empty()) return absl::OkStatus();
  absl::StatusOr<FilePtr> file = OpenTensors(path);
  if (!file.ok()) return file.status();
  return TakeInitial(*file, [&](const std::string& name) { return job.program.input_names.Find(name); }, job);
}

absl::Status TakeCheckpoint(bool has_carry_flag, Job& job) {
  if (job.options.resume.empty()) return absl::OkStatus();
  absl::StatusOr<checkpoint::Checkpoint> checkpoint = checkpoint::OpenCheckpoint(job.options.resume);
  if (!checkpoint.ok()) return checkpoint.status();
  const checkpoint::TrainingPoint& point = checkpoint->point;
  if (job.options.seed && *job.options.seed != point.seed) {
    return absl::InvalidArgumentError(absl::StrCat(checkpoint->path, ": was trained with --seed ", point.seed, ", not ",
                                                   *job.options.seed, "; leave --seed out"));
  }
  for (const std::string& damage : checkpoint->passed_over) {
    job.notes.push_back(absl::StrCat(damage, "; going on from the checkpoint before, ", checkpoint->path));
  }
  if (absl::Status status = CheckCarryOfCheckpoint(checkpoint->path, point.carry, has_carry_flag, job); !status.ok())
    return status;
  job.resumed_feed_text = point.feed;
  job.first_step = point.step;
  job.seed = point.seed;
  // Checkpoints know no positions: an input that is named arg0 and is not the first is the one of this name.
  std::map<std::string_view, size_t> names;
  for (size_t i = 0; i < job.program.inputs.size(); ++i) names.emplace(job.program.inputs[i].name, i);
  auto find = [&](const std::string& name) {
    const auto at = names.find(name);
    return at == names.end() ? std::nullopt : std::optional(at->second);
  };
  return TakeInitial(std::make_shared<const data::SafetensorsFile>(std::move(checkpoint->state)), find, job);
}

// Every input must have a source by now.
absl::Status CheckComplete(const Job& job) {
  if (job.options.mode == Mode::kBench) return absl::OkStatus();
  for (size_t i = 0; i < job.program.inputs.size(); ++i) {
    if (job.initial[i] || job.IsFed(i) || job.program.inputs[i].is_generator) continue;
    if (job.init && std::ranges::any_of(job.init->outputs_to_inputs, [&](auto& pair) { return pair.second == i; }))
      continue;
    const char* sources =
        job.options.mode == Mode::kOnce ? "is not in --inputs"
        : !job.options.resume.empty()   ? "is neither in the checkpoint nor in --init, --data and --batches"
        : HasProgram(*job.file, "init") ? "is in none of --init, --resume, --data, --batches and what "
                                          "program 'init' gives"
                                        : "is in none of --init, --resume, --data and --batches, and "
                                          "there is no program 'init'";
    const std::string file =
        job.options.mode == Mode::kOnce && !job.options.inputs.empty() ? job.options.inputs + ": " : "";
    return absl::InvalidArgumentError(absl::StrCat(file, InputText(job.program, i), " ", sources));
  }
  return absl::OkStatus();
}

}  // namespace sgd::train
