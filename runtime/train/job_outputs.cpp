// Names that outputs are written with, and which one is the loss.
#include "runtime/train/job_outputs.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/tensor_path.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/data/tensor_file_writer.h"

namespace sgd::train {
namespace {

// The output that the artifact records; where it records none, or --carry makes it state, the first floating-point
// scalar that is not state.
std::optional<size_t> DefaultLoss(Job& job) {
  std::optional<size_t> loss = job.program.loss;
  if (loss && std::ranges::none_of(job.carry, [&](const auto& pair) { return pair.first == *loss; })) return loss;
  loss.reset();
  for (size_t i = 0; i < job.program.outputs.size(); ++i) {
    const data::InputType& output = job.program.outputs[i];
    const bool is_state = std::ranges::any_of(job.carry, [&](const auto& pair) { return pair.first == i; });
    if (is_state || !output.type.global_dims.empty() || !artifact::IsFloat(output.type.element)) continue;
    if (!loss) loss = i;
    const artifact::TensorPath path = artifact::ResultPath(output.name);
    if (i == *loss || path.empty() || path.back().text != "loss") continue;
    job.notes.push_back(absl::StrCat("the first scalar, ", OutputText(job.program, *loss),
                                     ", is used as the loss; say --loss ", job.program.output_names.Position(i),
                                     " for ", data::QuotedName(output.name)));
    break;
  }
  return loss;
}

}  // namespace

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
    if (outputs[*job.loss].type.element == data::ElementType::C64) {
      return absl::InvalidArgumentError(
          absl::StrCat("--loss: ", OutputText(job.program, *job.loss), " is complex; name a real scalar"));
    }
    return absl::OkStatus();
  }
  job.loss = DefaultLoss(job);
  return absl::OkStatus();
}

absl::Status CheckOutputs(const Job& job) {
  const RunOptions& options = job.options;
  absl::Status status;
  if (!options.outputs.empty()) status.Update(data::TensorFileWriter::CheckWritable(options.outputs));
  if (status.ok() && !options.save.empty()) status.Update(checkpoint::CheckWritable(options.save));
  return status;
}

}  // namespace sgd::train
