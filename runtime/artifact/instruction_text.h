// How messages name an instruction.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/artifact/program_generated.h"

namespace sgd::artifact {

// "model.py:12:3", or that it is unknown.
std::string LocationOf(const Program& program, const Instruction& instruction);

// "instruction 7 (launch) at model.py:12:3".
std::string InstructionText(const Program& program, uint64_t index);

}  // namespace sgd::artifact
