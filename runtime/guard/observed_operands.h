// Queries of observers about instructions.
#pragma once

#include "runtime/artifact/element_type.h"
#include "runtime/artifact/operands.h"

namespace sgd::guard {

inline bool HasFloats(const artifact::Operand& operand) {
  return operand.slice != nullptr && operand.slice->size() > 0 && operand.element &&
         artifact::IsFloat(*operand.element);
}

// Whether the instruction only begins a collective, which has written when its Done is over.
inline bool StartsCollective(const artifact::Instruction& instruction) {
  const auto* collective = instruction.op_as_Collective();
  return collective != nullptr && collective->starts();
}

}  // namespace sgd::guard
