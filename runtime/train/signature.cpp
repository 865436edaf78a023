// Copies out of a verified artifact.
#include "runtime/train/signature.h"

#include "absl/strings/str_cat.h"
#include "runtime/artifact/reader.h"

namespace sgd::train {
namespace {

std::string Name(const char* kind, size_t position, const data::InputType& tensor) {
  return absl::StrCat(kind, position, " ", data::QuotedName(tensor.name), " (",
                      data::TypeText(tensor.type.element, tensor.type.global_dims), ")");
}

}  // namespace

Signature SignatureOf(const artifact::WholeProgram& program) {
  Signature signature;
  signature.name = program.stages.front()->name()->str();
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    const artifact::Whole<artifact::Input>& whole = program.inputs[i];
    const artifact::Input& input = *whole.tensor;
    signature.inputs.push_back(
        {input.name()->str(), data::TypeOf(whole, program.stages.size()), input.narrow_bits(), input.role()});
    for (uint32_t alias = 0; alias < artifact::Size(input.aliases()); ++alias)
      signature.inputs.back().aliases.push_back(input.aliases()->Get(alias)->str());
    if (input.carry_doubt() == nullptr) continue;
    CarryDoubt& doubt = signature.doubts[i];
    doubt.why = input.carry_doubt()->str();
    if (const int64_t candidate = program.CandidateOf(whole); candidate >= 0)
      doubt.candidate = static_cast<size_t>(candidate);
  }
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    const artifact::Output& output = *program.outputs[i].tensor;
    signature.outputs.push_back({output.name()->str(), data::TypeOf(program.outputs[i], program.stages.size())});
    if (output.role() == artifact::OutputRole::Loss) signature.loss = i;
    if (output.role() == artifact::OutputRole::Commit) signature.commit = i;
    const int64_t carry = program.CarryOf(program.outputs[i]);
    if (carry < 0) continue;
    signature.carry.emplace_back(i, static_cast<size_t>(carry));
    signature.basis.push_back(output.carry_basis());
  }
  return signature;
}

std::string InputName(const Signature& program, size_t input) { return Name("arg", input, program.inputs[input]); }

std::string OutputName(const Signature& program, size_t output) {
  return Name("result", output, program.outputs[output]);
}

}  // namespace sgd::train
