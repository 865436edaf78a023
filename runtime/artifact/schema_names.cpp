// Names are those that flatc generates.
#include "runtime/artifact/schema_names.h"

#include <string_view>

#include "absl/strings/ascii.h"

namespace sgd::artifact {
namespace {

// "lhs_reduction" of "LhsReduction".
std::string SnakeCase(std::string_view name) {
  if (name.empty()) return "unknown";
  std::string words;
  for (char letter : name) {
    if (absl::ascii_isupper(letter) && !words.empty()) words += '_';
    words += absl::ascii_tolower(letter);
  }
  return words;
}

}  // namespace

std::string NameOf(Operation operation) {
  return operation == Operation::NONE ? "unknown" : SnakeCase(EnumNameOperation(operation));
}
std::string NameOf(Space space) { return SnakeCase(EnumNameSpace(space)); }
std::string NameOf(EpilogueStep step) { return SnakeCase(EnumNameEpilogueStep(step)); }
std::string NameOf(CarryBasis basis) { return SnakeCase(EnumNameCarryBasis(basis)); }
std::string NameOf(InputRole role) { return SnakeCase(EnumNameInputRole(role)); }
std::string NameOf(OutputRole role) { return SnakeCase(EnumNameOutputRole(role)); }
std::string NameOf(CollectiveKind kind) { return SnakeCase(EnumNameCollectiveKind(kind)); }
std::string NameOf(ReduceKind kind) { return SnakeCase(EnumNameReduceKind(kind)); }
std::string NameOf(LinearAlgebraKind kind) { return SnakeCase(EnumNameLinearAlgebraKind(kind)); }
std::string NameOf(MovementCause cause) { return SnakeCase(EnumNameMovementCause(cause)); }
std::string NameOf(OperationKind kind) { return SnakeCase(EnumNameOperationKind(kind)); }
std::string NameOf(Precision precision) { return SnakeCase(EnumNamePrecision(precision)); }

std::string OperationName(const Instruction& instruction) {
  const Collective* collective = instruction.op_as_Collective();
  if (collective != nullptr && collective->kind() <= CollectiveKind::MAX) return NameOf(collective->kind());
  const Attention* attention = instruction.op_as_Attention();
  if (attention != nullptr && attention->gradients() != nullptr) return "attention_gradient";
  return NameOf(instruction.op_type());
}

}  // namespace sgd::artifact
