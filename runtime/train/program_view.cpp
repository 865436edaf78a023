// Views of programs, and the names of JAX's pytrees.
#include "runtime/train/program_view.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/artifact/tensor_path.h"

namespace sgd::train {
namespace {

std::vector<std::string> NamesOf(const std::vector<data::InputType>& tensors) {
  std::vector<std::string> names;
  for (const data::InputType& tensor : tensors) names.push_back(tensor.name);
  return names;
}

std::string TensorText(const std::string& position, const ProgramView& program, const data::InputType& tensor) {
  return absl::StrCat(position, " ", data::QuotedName(tensor.name), " (",
                      data::TypeText(tensor.type.element, tensor.type.global_dims), ") of program ",
                      data::QuotedName(program.name));
}

}  // namespace

absl::StatusOr<ProgramView> ViewProgram(const artifact::ArtifactFile& file, std::string_view name) {
  absl::StatusOr<const artifact::Program*> program = file.FindProgram(name);
  if (!program.ok()) return program.status();
  artifact::WholeProgram whole = artifact::WholeOf(file.root(), name);
  Signature signature = SignatureOf(whole);
  data::NameTable input_names("arg", NamesOf(signature.inputs));
  data::NameTable output_names("result", NamesOf(signature.outputs));
  return ProgramView{std::move(signature), std::move(input_names), std::move(output_names), std::move(whole)};
}

bool HasProgram(const artifact::ArtifactFile& file, std::string_view name) { return file.FindProgram(name).ok(); }

absl::StatusOr<std::string> DefaultProgram(const artifact::ArtifactFile& file) {
  for (const char* name : {"main", "train"}) {
    if (HasProgram(file, name)) return name;
  }
  const auto* programs = file.root().programs();
  std::vector<std::string> names;
  for (const artifact::Program* program : *programs) {
    if (program->stage() <= 0) names.push_back(program->name()->str());
  }
  if (names.size() == 1) return names[0];
  return absl::InvalidArgumentError(absl::StrCat(file.path(),
                                                 ": has neither a program 'main' nor 'train'; choose one of ",
                                                 absl::StrJoin(names, ", "), " with --program"));
}

std::string InputText(const ProgramView& program, size_t input) {
  return TensorText("input " + program.input_names.Position(input), program, program.inputs[input]);
}

std::string OutputText(const ProgramView& program, size_t output) {
  return TensorText("output " + program.output_names.Position(output), program, program.outputs[output]);
}

std::string ShortName(std::string_view name) {
  std::vector<std::string> parts;
  for (const artifact::PathPart& part : artifact::ResultPath(name)) parts.push_back(part.text);
  return parts.empty() ? "result" : absl::StrJoin(parts, "/");
}

}  // namespace sgd::train
