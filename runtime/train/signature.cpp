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

Signature SignatureOf(const artifact::Program& program) {
  Signature signature;
  signature.name = program.name()->str();
  for (uint32_t i = 0; i < artifact::Size(program.inputs()); ++i) {
    const artifact::Input& input = *program.inputs()->Get(i);
    signature.inputs.push_back(
        {input.name()->str(), data::TypeOf(*input.type()), input.narrow_bits(), input.is_generator()});
    if (input.carry_doubt() == nullptr) continue;
    CarryDoubt& doubt = signature.doubts[i];
    doubt.why = input.carry_doubt()->str();
    if (input.carry_candidate() >= 0) doubt.candidate = static_cast<size_t>(input.carry_candidate());
  }
  for (uint32_t i = 0; i < artifact::Size(program.outputs()); ++i) {
    const artifact::Output& output = *program.outputs()->Get(i);
    signature.outputs.push_back({output.name()->str(), data::TypeOf(*output.type())});
    if (output.carry_input() < 0) continue;
    signature.carry.emplace_back(i, static_cast<size_t>(output.carry_input()));
    signature.basis.push_back(output.carry_basis());
  }
  return signature;
}

std::string InputName(const Signature& program, size_t input) { return Name("arg", input, program.inputs[input]); }

std::string OutputName(const Signature& program, size_t output) {
  return Name("result", output, program.outputs[output]);
}

}  // namespace sgd::train
