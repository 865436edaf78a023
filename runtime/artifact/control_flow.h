// Loops and branches are flat in a program's list of instructions: the blocks that they run follow them. These
// functions find where each block begins and ends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/artifact/program_generated.h"

namespace sgd::artifact {

// Instructions [begin, end).
struct Block {
  uint64_t begin = 0;
  uint64_t end = 0;
};

inline const Instruction& InstructionAt(const Program& program, uint64_t index) {
  return *program.instructions()->Get(static_cast<uint32_t>(index));
}

// InvalidArgument; the message names the instruction at `index`.
absl::Status InstructionError(const Program& program, uint64_t index, const std::string& what);

// How deep loops and branches may nest.
inline constexpr int kMaxDepth = 64;

// The blocks of the instruction at `index`: of a loop the condition (empty for a known trip count), then the
// body; of a case its branches; none for others. Numbers are as in the file: see VerifyControlFlow.
std::vector<Block> BlocksOf(const Program& program, uint64_t index);

// The instruction that follows the one at `index` and all that it runs.
uint64_t Next(const Program& program, uint64_t index);

// How often each instruction runs in a step, loops of unknown trips counted as one and all branches as taken. One walk.
std::vector<uint64_t> ExecutionsOf(const Program& program);

// Every block is inside of the one around it, at most kMaxDepth deep. After it the functions above may be used.
absl::Status VerifyControlFlow(const Program& program);

}  // namespace sgd::artifact
