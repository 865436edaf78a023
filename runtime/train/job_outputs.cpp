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

// The output with the role of the loss, unless --carry makes it state.
std::optional<size_t> DefaultLoss(Job& job) {
  const std::optional<size_t> loss = job.program.loss;
  if (std::ranges::none_of(job.carry, [&](const auto& pair) { return pair.first == loss; })) return loss;
  job.notes.push_back(absl::StrCat(OutputText(job.program, *loss),
                                   " was compiled as the loss and is state by --carry; say --loss to log another"));
  return std::nullopt;
}

// The scalars, unless another output is probably meant.
std::string LossAdvice(const Job& job) {
  std::string advice = job.program.output_names.Advice(job.options.loss);
  if (advice.starts_with("; did you mean")) return advice;
  std::vector<std::string> names;
  for (const data::InputType& output : job.program.outputs)
    if (output.type.global_dims.empty()) names.push_back(output.name);
  return data::NameTable("result", names).Advice(job.options.loss);
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
                                                     " has no output ", data::QuotedName(job.options.loss),
                                                     LossAdvice(job)));
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
  for (const std::string* file : {&options.outputs, &options.save_weights}) {
    if (status.ok() && !file->empty()) status.Update(data::TensorFileWriter::CheckWritable(*file));
  }
  if (status.ok() && !options.save.empty()) status.Update(checkpoint::CheckWritable(options.save));
  return status;
}

}  // namespace sgd::train
