// How much a step may do: programs that no device ends in a lifetime are refused before they begin.
#pragma once

#include "absl/status/status.h"
#include "runtime/artifact/program_generated.h"

namespace sgd::artifact {

// Executions of instructions in a step, loops included: at 100 ns each more than a day.
inline constexpr uint64_t kMaxExecutions = uint64_t{1} << 40;
// Limit of a step's multiplications in matmuls, convolutions, attention and linear algebra: at 5e14 a second, as of a
// large GPU, four hours.
inline constexpr uint64_t kMaxMultiplications = uint64_t{1} << 63;

// Multiplications of one execution of a verified instruction in matmuls, convolutions, attention and linear algebra
// (there about); saturates.
uint64_t MultiplicationsOf(const Instruction& instruction);

// InvalidArgument, naming the instruction, where a step does more than these; loops of unknown trips count as one and
// all branches as taken. The program has passed VerifyControlFlow, its instructions VerifyOperation.
absl::Status VerifyStepWork(const Program& program);

}  // namespace sgd::artifact
