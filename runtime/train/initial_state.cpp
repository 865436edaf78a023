// Tensors of files by the names of inputs.
#include "runtime/train/initial_state.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/compression_state.h"
#include "runtime/artifact/element_type.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/data/feed.h"
#include "runtime/data/conversion.h"
#include "runtime/train/checkpoint_difference.h"
#include "runtime/train/self_started.h"
#include "runtime/train/tensor_files.h"

namespace sgd::train {
namespace {

using FindInput = std::function<std::optional<size_t>(const std::string&)>;

// The error of a compressed reduction over another number of ranks than the program's, as that of its own ranks: each
// gets an equal share of what all together have not sent. Null where the tensors differ in more than that.
std::shared_ptr<const std::vector<std::byte>> ShareError(const FileTensor& tensor, const data::InputType& input) {
  using data::Dims;
  const Dims &from = tensor.entry->dims, &to = input.type.global_dims;
  const bool is_error = input.name.starts_with(artifact::kCompressionError) &&
                        tensor.entry->element == data::ElementType::F32 && input.type.element == data::ElementType::F32;
  if (!is_error || from.size() != to.size() || from.empty() || from[0] == to[0] ||
      !std::equal(from.begin() + 1, from.end(), to.begin() + 1))
    return nullptr;
  const uint64_t elements = tensor.bytes().size() / sizeof(float) / from[0];
  std::vector<float> all(elements * from[0]), share(elements);
  std::memcpy(all.data(), tensor.bytes().data(), tensor.bytes().size());
  for (uint64_t rank = 0; rank < from[0]; ++rank) {
    for (uint64_t i = 0; i < elements; ++i) share[i] += all[rank * elements + i];
  }
  for (float& value : share) value /= static_cast<float>(to[0]);
  std::vector<std::byte> bytes;
  for (uint64_t rank = 0; rank < to[0]; ++rank) {
    const std::span<const std::byte> part = std::as_bytes(std::span(share));
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

// State of compressed reductions that the program has not, or has in another form, is left out: other runs of the same
// training may compress otherwise, or not at all.
bool TakeCompressionState(const FileTensor& tensor, std::optional<size_t> input, Job& job) {
  const bool is_compression =
      input ? StartsFromZeros(job.program.inputs[*input]) : artifact::IsCompressionState(tensor.entry->name);
  if (!is_compression) return false;
  if (input) {
    const data::InputType& type = job.program.inputs[*input];
    if (data::CheckTensor(*tensor.file, *tensor.entry, type).ok()) return false;
    if (auto shared = ShareError(tensor, type)) {
      job.initial[*input] = FileTensor{tensor.file, tensor.entry, std::move(shared)};
      return true;
    }
  }
  job.notes.push_back(absl::StrCat(tensor.file->path(), ": tensor ", data::QuotedName(tensor.entry->name),
                                   " is left out: program ", data::QuotedName(job.program.name),
                                   " does not compress this reduction, or not in this way"));
  return true;
}

bool IsAlias(const data::InputType& input, const std::string& name) {
  return std::ranges::find(input.aliases, name) != input.aliases.end();
}

std::optional<size_t> FindAlias(const ProgramView& program, const std::string& name) {
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    if (IsAlias(program.inputs[i], name)) return i;
  }
  return std::nullopt;
}

// An input's second tensor in a file: the same weights under another name, as in a state_dict.
absl::Status CheckSecond(const FilePtr& file, const data::TensorEntry& entry, size_t input, const Job& job) {
  const data::InputType& type = job.program.inputs[input];
  const data::TensorEntry& first = *job.initial[input]->entry;
  const std::string where =
      absl::StrCat(file->path(), ": tensor ", data::QuotedName(entry.name), ": ", InputText(job.program, input));
  if (!IsAlias(type, entry.name) && !IsAlias(type, first.name))
    return absl::InvalidArgumentError(absl::StrCat(where, " occurs twice"));
  const auto a = file->Bytes(entry), b = job.initial[input]->bytes();
  if (a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(where, " is shared with ", data::QuotedName(first.name),
                   ", and the two differ; expected equal weights; leave one of them out"));
}

// The elements as the program's integers; null where they are of its type.
std::shared_ptr<const std::vector<std::byte>> Converted(const data::SafetensorsFile& file,
                                                        const data::TensorEntry& entry, const data::TensorType& type) {
  if (!data::AreOtherIntegers(entry.element, type.element)) return nullptr;
  const uint64_t count = entry.size / artifact::ElementSize(entry.element);
  auto bytes = std::make_shared<std::vector<std::byte>>(count * artifact::ElementSize(type.element));
  // CheckTensor has found that all fit.
  static_cast<void>(data::Convert({entry.element, type.element}, file.Bytes(entry).data(), count, bytes->data()));
  return bytes;
}

// Takes every tensor of `file` as an input's initial value. `taken`: the inputs that have one.
absl::Status TakeInitial(const FilePtr& file, const FindInput& find, std::set<size_t>& taken, Job& job) {
  for (const data::TensorEntry& entry : file->tensors()) {
    std::optional<size_t> input = find(entry.name);
    if (TakeCompressionState({file, &entry, nullptr}, input, job)) continue;
    if (!input) {
      return absl::InvalidArgumentError(absl::StrCat(file->path(), ": tensor ", data::QuotedName(entry.name),
                                                     ": program ", data::QuotedName(job.program.name),
                                                     " has no such input", job.program.input_names.Advice(entry.name)));
    }
    absl::Status status = data::CheckTensor(*file, entry, job.program.inputs[*input]);
    if (!status.ok()) return status;
    if (!taken.insert(*input).second) {
      status = CheckSecond(file, entry, *input, job);
      if (!status.ok()) return status;
      continue;
    }
    job.initial[*input] = FileTensor{file, &entry, Converted(*file, entry, job.program.inputs[*input].type)};
  }
  return absl::OkStatus();
}

// A checkpoint of another model is refused with all that differs. If one tensor does, its own error says more.
absl::Status CheckModelOfCheckpoint(const checkpoint::Checkpoint& checkpoint, bool has_other_carry, const Job& job) {
  const CheckpointDifference difference = FindDifference(checkpoint.state, job);
  if (difference.extra.size() + difference.reshaped.size() <= (has_other_carry ? 0 : 1)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      checkpoint.path, ": is a checkpoint of another model than program ", data::QuotedName(job.program.name), ": ",
      difference.Text(), "; resume with the model that saved it, or give the tensors that still fit to --init"));
}

bool HasOtherCarry(const std::string& carry, const Job& job) {
  return !carry.empty() && carry != job.carry_hash && carry != job.ordered_carry_hash;
}

// State that was trained by one carry and goes on by another would be of neither.
absl::Status CheckCarryOfCheckpoint(const std::string& path, const std::string& carry, bool is_asked_for, Job& job) {
  if (!HasOtherCarry(carry, job)) return absl::OkStatus();
  if (!is_asked_for) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": was trained with other outputs as the next step's inputs than these; say the --carry of that run again"));
  }
  job.notes.push_back("--carry differs from that of the checkpoint");
  return absl::OkStatus();
}

// A run that only evaluates reads what its two programs share.
bool IsReadByEval(const Job& job, size_t input) {
  return job.eval &&
         std::ranges::any_of(job.eval->shared_inputs, [&](const auto& pair) { return pair.first == input; });
}

// How to give a number that a step takes, as a learning rate, a seed or a random key; empty for other inputs.
std::string NumberAdvice(const Job& job, size_t input) {
  const data::TensorType& type = job.program.inputs[input].type;
  const bool is_key = type.element == data::ElementType::U32 && type.global_dims.size() == 1 &&
                      (type.global_dims[0] == 2 || type.global_dims[0] == 4);
  if (job.options.mode != Mode::kTrain || job.options.only_evaluates || (!type.global_dims.empty() && !is_key))
    return "";
  const std::string position = job.program.input_names.Position(input);
  const std::string what = is_key ? "random key" : "number";
  // Rows of --data have no place for it.
  const std::string each = !job.options.data.empty() ? std::string(", or let the step return the next one")
                                                     : absl::StrCat(", or one for each step in --batches, as step0.",
                                                                    position, ", step1.", position, ", ...");
  return absl::StrCat("; give one ", what, " for all steps in --init, as ", position, each);
}

}  // namespace

absl::Status TakeFile(const std::string& path, Job& job) {
  if (path.empty()) return absl::OkStatus();
  absl::StatusOr<std::vector<FilePtr>> files = OpenTensorFiles(path);
  if (!files.ok()) return files.status();
  auto find = [&](const std::string& name) {
    const std::optional<size_t> input = job.program.input_names.Find(name);
    return input ? input : FindAlias(job.program, name);
  };
  std::set<size_t> taken;
  for (const FilePtr& file : *files) {
    if (absl::Status status = TakeInitial(file, find, taken, job); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status TakeCheckpoint(bool has_carry_flag, Job& job) {
  const RunOptions& options = job.options;
  if (options.resume.empty()) return absl::OkStatus();
  // The first of several starts by the same command.
  if (options.resume == options.save && !checkpoint::NewestStep(options.resume)) {
    job.notes.push_back(absl::StrCat(options.resume, ": holds no checkpoint yet, so this run starts anew"));
    return absl::OkStatus();
  }
  std::error_code error;
  if (std::filesystem::is_regular_file(options.resume, error))
    return absl::InvalidArgumentError(absl::StrCat(
        options.resume, ": is a file; expected a checkpoint or a folder of them; a file of tensors is for --init"));
  const checkpoint::Depth depth = options.verifies_together ? checkpoint::Depth::kSizes : checkpoint::Depth::kStored;
  absl::StatusOr<checkpoint::Checkpoint> checkpoint = checkpoint::OpenCheckpoint(job.options.resume, depth);
  if (checkpoint.ok() && options.verifies_together) job.unverified = checkpoint->path;
  return checkpoint.ok() ? TakeState(*std::move(checkpoint), has_carry_flag, job) : checkpoint.status();
}

absl::Status TakeState(checkpoint::Checkpoint checkpoint, bool has_carry_flag, Job& job) {
  const checkpoint::TrainingPoint& point = checkpoint.point;
  if (job.options.seed && *job.options.seed != point.seed) {
    return absl::InvalidArgumentError(absl::StrCat(checkpoint.path, ": was trained with --seed ", point.seed, ", not ",
                                                   *job.options.seed, "; leave --seed out"));
  }
  for (const std::string& damage : checkpoint.passed_over) {
    job.notes.push_back(absl::StrCat(damage, "; going on from the checkpoint before, ", checkpoint.path));
  }
  const bool has_other_carry = !has_carry_flag && HasOtherCarry(point.carry, job);
  if (absl::Status status = CheckModelOfCheckpoint(checkpoint, has_other_carry, job); !status.ok()) return status;
  if (absl::Status status = CheckCarryOfCheckpoint(checkpoint.path, point.carry, has_carry_flag, job); !status.ok())
    return status;
  job.resumed_feed_text = point.feed;
  job.first_step = point.step;
  job.resumed_from = checkpoint.path;
  job.seed = point.seed;
  // Checkpoints know no positions: an input that is named arg0 and is not the first is the one of this name.
  std::map<std::string_view, size_t> names;
  for (size_t i = 0; i < job.program.inputs.size(); ++i) names.emplace(job.program.inputs[i].name, i);
  auto find = [&](const std::string& name) {
    const auto at = names.find(name);
    return at == names.end() ? std::nullopt : std::optional(at->second);
  };
  std::set<size_t> taken;
  return TakeInitial(std::make_shared<const data::SafetensorsFile>(std::move(checkpoint.state)), find, taken, job);
}

void NoteSources(Job& job) {
  if (job.options.init.empty() || !job.init) return;
  const size_t from_file = std::ranges::count_if(job.initial, [](const auto& tensor) { return tensor.has_value(); });
  std::set<size_t> drawn;  // in the order of inputs
  for (const auto& [output, input] : job.init->outputs_to_inputs) drawn.insert(input);
  constexpr size_t kNamed = 3;
  std::string names;
  for (size_t named = 0; const size_t input : drawn) {
    if (named == kNamed) break;
    absl::StrAppend(&names, named++ == 0 ? "" : ", ", InputName(job.program, input));
  }
  if (drawn.size() > kNamed) absl::StrAppend(&names, " and ", drawn.size() - kNamed, " more");
  job.notes.push_back(absl::StrCat("of the initial state, ", from_file,
                                   from_file == 1 ? " tensor is from " : " tensors are from ", job.options.init,
                                   " and ", drawn.size(), " from program 'init': ", names));
}

// Every input that a run reads must have a source by now.
absl::Status CheckComplete(const Job& job) {
  if (job.options.mode == Mode::kBench || job.is_without_state) return absl::OkStatus();
  for (size_t i = 0; i < job.program.inputs.size(); ++i) {
    if (job.initial[i] || job.IsFed(i) || StartsByItself(job.program.inputs[i])) continue;
    if (job.options.only_evaluates && !IsReadByEval(job, i)) continue;
    if (job.init && std::ranges::any_of(job.init->outputs_to_inputs, [&](auto& pair) { return pair.second == i; }))
      continue;
    const char* sources =
        job.options.mode == Mode::kOnce ? "is not in --inputs"
        : job.options.only_evaluates  ? "is read by program 'eval', and is in none of --init, --resume and --eval-data"
        : !job.options.resume.empty() ? "is neither in the checkpoint nor in --init, --data and --batches"
        : HasProgram(*job.file, "init") ? "is in none of --init, --resume, --data, --batches and what "
                                          "program 'init' gives"
                                        : "is in none of --init, --resume, --data and --batches, and "
                                          "there is no program 'init'";
    const std::string file =
        job.options.mode == Mode::kOnce && !job.options.inputs.empty() ? job.options.inputs + ": " : "";
    return absl::InvalidArgumentError(
        absl::StrCat(file, InputText(job.program, i), " ", sources, NumberAdvice(job, i)));
  }
  return absl::OkStatus();
}

}  // namespace sgd::train
