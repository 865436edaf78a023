// Locations are text of users: escaped.
#include "runtime/artifact/instruction_text.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "runtime/artifact/control_flow.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/schema_names.h"

namespace sgd::artifact {

std::string LocationOf(const Program& program, const Instruction& instruction) {
  if (instruction.loc() >= Size(program.locations())) return "unknown location";
  return absl::CEscape(program.locations()->Get(instruction.loc())->str());
}

std::string InstructionText(const Program& program, uint64_t index) {
  const Instruction& instruction = InstructionAt(program, index);
  return absl::StrCat("instruction ", index, " (", OperationName(instruction), ") at ",
                      LocationOf(program, instruction));
}

}  // namespace sgd::artifact
