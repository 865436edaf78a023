// Opens the files a run needs and decides, input by input, what fills it.
#include "tools/sgdrun/job.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/artifact/container.h"
#include "runtime/artifact/tensor_path.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/data/batch_feed.h"
#include "runtime/data/row_feed.h"
#include "runtime/data/tensor_file_writer.h"
#include "runtime/trace/json_log.h"
#include "tools/sgdrun/carry_flag.h"
#include "tools/sgdrun/generator.h"
#include "tools/sgdrun/other_programs.h"

namespace sgd::sgdrun {
namespace {

absl::StatusOr<train::CarryRequest> RequestOf(const Options& options, const ProgramView& program) {
  if (!options.carry.empty()) return ParseCarry(options.carry, program);
  if (!options.carry_json.empty()) return ReadCarryFile(options.carry_json, program);
  return train::CarryRequest{};
}

// The flag because of which somebody will look at the state after a step; empty when nobody will.
std::string PurposeOfState(const Options& options) {
  if (options.steps > 1) return absl::StrCat("--steps ", options.steps);
  if (!options.save.empty()) return "--save";
  if (!options.resume.empty()) return "--resume";
  return options.eval_every == 1 ? "--eval-every" : "";
}

// The feed is known by now.
absl::Status CheckCarry(const Job& job, const train::CarryRequest& request, const train::CarryPlan& plan) {
  const std::string purpose = PurposeOfState(job.options);
  if (job.options.mode != Mode::kTrain || purpose.empty()) return absl::OkStatus();
  std::set<size_t> fed;
  if (job.feed != nullptr) fed.insert(job.feed->inputs().begin(), job.feed->inputs().end());
  absl::Status status = train::CheckCarryKnown(job.program, request, plan, fed, purpose);
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(job.options.artifact, ": ", status.message()));
}

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
    absl::Status status = data::CheckType(*file, entry, job.program.inputs[*input]);
    if (!status.ok()) return status;
    if (!taken.insert(*input).second) {
      return absl::InvalidArgumentError(absl::StrCat(file->path(), ": tensor ", data::QuotedName(entry.name), ": ",
                                                     InputText(job.program, *input), " is given twice"));
    }
    job.initial[*input] = FileTensor{file, &entry};
  }
  return absl::OkStatus();
}

absl::StatusOr<FilePtr> OpenTensors(const std::string& path) {
  absl::StatusOr<data::SafetensorsFile> file = data::SafetensorsFile::Open(path);
  if (!file.ok()) return file.status();
  return std::make_shared<const data::SafetensorsFile>(*std::move(file));
}

absl::Status TakeFile(const std::string& path, Job& job) {
  if (path.empty()) return absl::OkStatus();
  absl::StatusOr<FilePtr> file = OpenTensors(path);
  if (!file.ok()) return file.status();
  return TakeInitial(*file, [&](const std::string& name) { return job.program.input_names.Find(name); }, job);
}

std::string HashOf(const exec::CarryPairs& carry, const ProgramView& program) {
  std::string text;
  for (const auto& [output, input] : carry)
    absl::StrAppend(&text, program.outputs[output].name, " becomes ", program.inputs[input].name, "\n");
  absl::StatusOr<artifact::Hash> hash = artifact::Sha256({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  return hash.ok() ? artifact::HexHash(*hash) : "";
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

// --feed, or equal names.
absl::StatusOr<std::vector<data::RowFeed::Source>> SourcesOf(Job& job, const data::SafetensorsFile& file) {
  std::vector<data::RowFeed::Source> sources;
  for (const auto& [name, tensor] : job.options.feed) {
    std::optional<size_t> input = job.program.input_names.Find(name);
    if (!input) {
      return absl::InvalidArgumentError(absl::StrCat("--feed: program ", data::QuotedName(job.program.name),
                                                     " has no input ", data::QuotedName(name)));
    }
    for (const data::RowFeed::Source& other : sources) {
      if (other.input == *input) {
        return absl::InvalidArgumentError(absl::StrCat("--feed: ", InputText(job.program, *input), " is fed twice"));
      }
    }
    sources.push_back({*input, tensor});
  }
  if (!sources.empty()) return sources;
  for (const data::TensorEntry& entry : file.tensors()) {
    if (std::optional<size_t> input = job.program.input_names.Find(entry.name)) {
      sources.push_back({*input, entry.name});
    } else {
      job.notes.push_back(absl::StrCat(file.path(), ": tensor ", data::QuotedName(entry.name),
                                       " has the name of no input and feeds none"));
    }
  }
  if (!sources.empty()) return sources;
  return absl::InvalidArgumentError(absl::StrCat(file.path(), ": no tensor has the name of an input of program ",
                                                 data::QuotedName(job.program.name), "; say --feed INPUT=TENSOR,..."));
}

absl::Status OpenDataFeed(Job& job) {
  absl::StatusOr<FilePtr> file = OpenTensors(job.options.data);
  if (!file.ok()) return file.status();
  absl::StatusOr<std::vector<data::RowFeed::Source>> sources = SourcesOf(job, **file);
  if (!sources.ok()) return sources.status();
  absl::StatusOr<std::unique_ptr<data::RowFeed>> feed =
      data::RowFeed::Make(*file, job.program.inputs, *sources, job.seed);
  if (!feed.ok()) return feed.status();
  job.feed_text = absl::StrCat("rows ", (*feed)->rows(), ", batch ", (*feed)->batch_rows());
  for (const data::RowFeed::Source& source : *sources) absl::StrAppend(&job.feed_text, ", ", source.tensor);
  job.feed = *std::move(feed);
  return absl::OkStatus();
}

absl::Status OpenFeed(Job& job) {
  if (!job.options.data.empty()) {
    absl::Status status = OpenDataFeed(job);
    if (!status.ok()) return status;
  }
  if (!job.options.batches.empty()) {
    absl::StatusOr<FilePtr> file = OpenTensors(job.options.batches);
    if (!file.ok()) return file.status();
    absl::StatusOr<std::unique_ptr<data::BatchFeed>> feed =
        data::BatchFeed::Make(*file, job.program.inputs, job.program.input_names);
    if (!feed.ok()) return feed.status();
    job.feed_text = absl::StrCat("batches ", (*feed)->batches());
    job.feed = *std::move(feed);
  }
  if (job.feed == nullptr) return absl::OkStatus();
  for (size_t input : job.feed->inputs()) {
    if (!job.IsCarried(input)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(InputText(job.program, input),
                     " is carried from step to step and cannot be fed from data; leave it out of the data, or say "
                     "--carry none:",
                     job.program.input_names.Position(input), " if it is no state"));
  }
  return absl::OkStatus();
}

// Inputs with as many rows as the fed ones that are not fed: labels whose tensor has another name.
void NoteForgottenFeeds(Job& job) {
  if (job.feed == nullptr || job.feed->inputs().empty()) return;
  const data::Dims& fed = job.program.inputs[job.feed->inputs()[0]].type.global_dims;
  for (size_t i = 0; i < job.program.inputs.size() && !fed.empty(); ++i) {
    const data::Dims& dims = job.program.inputs[i].type.global_dims;
    if (!job.IsConstant(i) || !job.initial[i] || dims.empty() || dims[0] != fed[0]) continue;
    job.notes.push_back(absl::StrCat(
        InputText(job.program, i), " has the rows of a batch, but no data feeds it: it is ", "the same in every step"));
  }
}

// Every input must have a source by now.
absl::Status CheckComplete(const Job& job) {
  if (job.options.mode == Mode::kBench) return absl::OkStatus();
  for (size_t i = 0; i < job.program.inputs.size(); ++i) {
    if (job.initial[i] || job.IsFed(i) || IsGenerator(job.program.inputs[i])) continue;
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

// The first floating-point scalar that is not state.
std::optional<size_t> DefaultLoss(Job& job) {
  std::optional<size_t> loss;
  for (size_t i = 0; i < job.program.outputs.size(); ++i) {
    const data::InputType& output = job.program.outputs[i];
    const bool is_state = std::ranges::any_of(job.carry, [&](const auto& pair) { return pair.first == i; });
    if (is_state || !output.type.global_dims.empty() || !artifact::IsFloat(output.type.element)) continue;
    if (!loss) loss = i;
    const artifact::TensorPath path = artifact::ResultPath(output.name);
    if (i == *loss || path.empty() || path.back().text != "loss") continue;
    job.notes.push_back(absl::StrCat("the first scalar, ", OutputText(job.program, *loss),
                                     ", is taken for the loss; say --loss ", job.program.output_names.Position(i),
                                     " for ", data::QuotedName(output.name)));
    break;
  }
  return loss;
}

absl::Status ChooseOutputs(Job& job) {
  const std::vector<data::InputType>& outputs = job.program.outputs;
  std::set<std::string> seen;
  for (size_t i = 0; i < outputs.size(); ++i) {
    job.output_names.push_back(job.options.use_model_output_names ? outputs[i].name
                                                                  : job.program.output_names.Position(i));
    if (!seen.insert(job.output_names[i]).second) {
      return absl::InvalidArgumentError(absl::StrCat("--output-names model: two outputs of program ",
                                                     data::QuotedName(job.program.name), " are named ",
                                                     data::QuotedName(job.output_names[i])));
    }
  }
  if (!job.options.loss.empty()) {
    job.loss = job.program.output_names.Find(job.options.loss);
    if (!job.loss) {
      return absl::InvalidArgumentError(absl::StrCat("--loss: program ", data::QuotedName(job.program.name),
                                                     " has no output ", data::QuotedName(job.options.loss)));
    }
    if (!outputs[*job.loss].type.global_dims.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--loss: ", OutputText(job.program, *job.loss), " is not a scalar"));
    }
    return absl::OkStatus();
  }
  job.loss = DefaultLoss(job);
  return absl::OkStatus();
}

absl::Status FillJob(Job& job) {
  absl::StatusOr<train::CarryRequest> request = RequestOf(job.options, job.program);
  if (!request.ok()) return request.status();
  absl::StatusOr<train::CarryPlan> plan = train::PlanCarry(job.program, *request);
  if (!plan.ok()) return plan.status();
  if (job.options.mode != Mode::kOnce) job.carry = plan->pairs;
  job.carry_hash = HashOf(job.carry, job.program);
  job.seed = job.options.seed.value_or(0);
  for (const std::string* path : {&job.options.inputs, &job.options.init}) {
    if (absl::Status status = TakeFile(*path, job); !status.ok()) return status;
  }
  if (absl::Status status = TakeCheckpoint(request->is_given(), job); !status.ok()) return status;
  if (absl::Status status = OpenFeed(job); !status.ok()) return status;
  if (absl::Status status = CheckCarry(job, *request, *plan); !status.ok()) return status;
  if (!job.resumed_feed_text.empty() && job.feed_text != job.resumed_feed_text) {
    job.notes.push_back(absl::StrCat("the data differs from the checkpoint's, which was: ", job.resumed_feed_text));
  }
  NoteForgottenFeeds(job);
  if (job.options.mode == Mode::kTrain) {
    if (absl::Status status = PlanInit(job); !status.ok()) return status;
    if (absl::Status status = PlanEval(job); !status.ok()) return status;
  }
  if (absl::Status status = CheckComplete(job); !status.ok()) return status;
  for (size_t i = 0; i < job.program.inputs.size(); ++i) {
    if (!job.initial[i] && IsGenerator(job.program.inputs[i]))
      job.notes.push_back(absl::StrCat(InputText(job.program, i), " starts from --seed ", job.seed));
  }
  return ChooseOutputs(job);
}

const char* ModeName(Mode mode) {
  switch (mode) {
    case Mode::kOnce:
      return "one run";
    case Mode::kTrain:
      return "training";
    case Mode::kBench:
      return "benchmark";
  }
  return "unknown";
}

}  // namespace

bool Job::IsCarried(size_t input) const {
  return std::ranges::any_of(carry, [&](const auto& pair) { return pair.second == input; });
}

bool Job::IsFed(size_t input) const {
  return feed != nullptr && std::ranges::find(feed->inputs(), input) != feed->inputs().end();
}

absl::StatusOr<Job> PrepareJob(const Options& options, std::unique_ptr<artifact::ArtifactFile> file) {
  absl::StatusOr<std::string> name = options.program;
  if (options.program.empty()) name = DefaultProgram(*file);
  if (!name.ok()) return name.status();
  absl::StatusOr<ProgramView> program = ViewProgram(*file, *name);
  if (!program.ok()) return program.status();
  Job job(options, std::move(file), *std::move(program));
  absl::Status status = FillJob(job);
  if (!status.ok()) return status;
  return job;
}

absl::Status CheckOutputs(const Job& job) {
  const Options& options = job.options;
  absl::Status status;
  if (!options.outputs.empty()) status.Update(data::TensorFileWriter::CheckWritable(options.outputs));
  for (const std::string& path : {options.profile, options.trace}) {
    if (!path.empty()) status.Update(trace::JsonLog::CheckWritable(path));
  }
  if (!options.log_json.empty()) status.Update(trace::JsonLog::CheckWritable(options.log_json));
  if (status.ok() && !options.save.empty()) status.Update(checkpoint::CheckWritable(options.save));
  return status;
}

std::string AgreementText(const Job& job) {
  const Options& options = job.options;
  std::string text = absl::StrCat(
      "artifact: ", artifact::HexHash(job.file->hash()), "\nprogram: ", job.program.name,
      "\nmode: ", ModeName(options.mode),
      "\nsteps: ", options.mode == Mode::kBench ? options.bench_steps : options.steps, "\nfirst step: ", job.first_step,
      "\nseed: ", job.seed, "\ndata: ", job.feed_text,
      "\n--save-every: ", options.save.empty() ? "none" : absl::StrCat(options.save_every),
      "\n--fast: ", options.fast ? "yes" : "no", "\n--eval-every: ", options.eval_every,
      "\nbatches of --eval-data: ", job.eval ? job.eval->batches : 0,
      "\n--outputs: ", options.outputs.empty() ? "none" : absl::StrJoin(job.output_names, " "), "\ncarried:");
  for (const auto& [output, input] : job.carry) absl::StrAppend(&text, " ", output, ":", input);
  return text;
}

}  // namespace sgd::sgdrun
