// Views of programs, and the names of JAX's pytrees.
#include "tools/sgdrun/program_view.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace sgd::sgdrun {
namespace {

template <typename Tensors>
std::vector<data::InputType> ViewTensors(const Tensors* tensors) {
  std::vector<data::InputType> views;
  for (uint64_t i = 0; i < artifact::Size(tensors); ++i) {
    views.push_back({tensors->Get(i)->name()->str(), data::TypeOf(*tensors->Get(i)->type())});
  }
  return views;
}

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
  std::vector<data::InputType> inputs = ViewTensors((*program)->inputs());
  std::vector<data::InputType> outputs = ViewTensors((*program)->outputs());
  data::NameTable input_names("arg", NamesOf(inputs));
  data::NameTable output_names("result", NamesOf(outputs));
  ProgramView view{std::string(name),      std::move(inputs),       std::move(outputs),
                   std::move(input_names), std::move(output_names), {}};
  for (size_t i = 0; i < view.outputs.size(); ++i) {
    const int32_t input = (*program)->outputs()->Get(i)->carry_input();
    if (input >= 0) view.recorded_carry.emplace_back(i, input);
  }
  return view;
}

bool HasProgram(const artifact::ArtifactFile& file, std::string_view name) { return file.FindProgram(name).ok(); }

absl::StatusOr<std::string> DefaultProgram(const artifact::ArtifactFile& file) {
  for (const char* name : {"main", "train"}) {
    if (HasProgram(file, name)) return name;
  }
  const auto* programs = file.root().programs();
  std::vector<std::string> names;
  for (uint64_t i = 0; i < artifact::Size(programs); ++i) names.push_back(programs->Get(i)->name()->str());
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

std::vector<std::string> PathOf(std::string_view name) {
  std::vector<std::string> parts;
  size_t i = 0;
  while (i < name.size()) {
    if (name[i] == '.' || name[i] == ']') {
      ++i;
    } else if (name[i] == '[' && i + 1 < name.size() && (name[i + 1] == '\'' || name[i + 1] == '"')) {
      // A dictionary key ends at the quote before a bracket; it may hold dots and brackets.
      const size_t end = name.find(std::string{name[i + 1], ']'}, i + 2);
      const size_t stop = end == std::string_view::npos ? name.size() : end;
      parts.emplace_back(name.substr(i + 2, stop - i - 2));
      i = end == std::string_view::npos ? name.size() : end + 2;
    } else {
      const size_t begin = name[i] == '[' ? i + 1 : i;
      const size_t end = std::min(name.find_first_of(".[]", begin), name.size());
      if (end > begin) parts.emplace_back(name.substr(begin, end - begin));
      i = std::max(end, i + 1);
    }
  }
  if (!parts.empty() && parts[0] == "result") parts.erase(parts.begin());
  return parts;
}

std::string ShortName(std::string_view name) {
  std::vector<std::string> parts = PathOf(name);
  return parts.empty() ? "result" : absl::StrJoin(parts, "/");
}

}  // namespace sgd::sgdrun
