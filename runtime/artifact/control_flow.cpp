// Blocks follow one another without gaps, so begins are sums of sizes.
#include "runtime/artifact/control_flow.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/saturating.h"
#include "runtime/artifact/schema_names.h"

namespace sgd::artifact {
namespace {

absl::Status VerifyBlock(const Program& program, Block block, int depth) {
  for (uint64_t i = block.begin; i < block.end; i = Next(program, i)) {
    const std::vector<Block> blocks = BlocksOf(program, i);
    if (blocks.empty()) continue;
    if (depth == kMaxDepth)
      return InstructionError(
          program, i, absl::StrCat("is nested in ", kMaxDepth, " others; at most ", kMaxDepth - 1, " are supported"));
    if (Next(program, i) > block.end) return InstructionError(program, i, "runs instructions that are not there");
    for (const Block& inner : blocks) {
      if (absl::Status status = VerifyBlock(program, inner, depth + 1); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

// Of a block that runs `times` times.
void CountExecutions(const Program& program, Block block, uint64_t times, std::vector<uint64_t>& executions) {
  for (uint64_t i = block.begin; i < block.end; i = Next(program, i)) {
    executions[i] = times;
    const Loop* loop = InstructionAt(program, i).op_as_Loop();
    const uint64_t trips = loop != nullptr && loop->predicate() == nullptr ? loop->trips() : 1;
    for (const Block& inner : BlocksOf(program, i))
      CountExecutions(program, inner, SaturatingProduct({times, trips}), executions);
  }
}

}  // namespace

absl::Status InstructionError(const Program& program, uint64_t index, const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat("instruction ", index, " (", OperationName(InstructionAt(program, index)), "): ", what));
}

std::vector<Block> BlocksOf(const Program& program, uint64_t index) {
  const Instruction& instruction = InstructionAt(program, index);
  std::vector<Block> blocks;
  const auto add = [&](uint64_t size) {
    const uint64_t begin = blocks.empty() ? index + 1 : blocks.back().end;
    blocks.push_back({begin, begin + size});
  };
  if (const Loop* loop = instruction.op_as_Loop()) {
    add(loop->condition());
    add(loop->body());
  } else if (const Case* branches = instruction.op_as_Case()) {
    for (uint64_t i = 0; i < Size(branches->branches()); ++i) add(branches->branches()->Get(static_cast<uint32_t>(i)));
  }
  return blocks;
}

uint64_t Next(const Program& program, uint64_t index) {
  const std::vector<Block> blocks = BlocksOf(program, index);
  return blocks.empty() ? index + 1 : blocks.back().end;
}

std::vector<uint64_t> ExecutionsOf(const Program& program) {
  std::vector<uint64_t> executions(Size(program.instructions()));
  CountExecutions(program, {0, executions.size()}, 1, executions);
  return executions;
}

absl::Status VerifyControlFlow(const Program& program) {
  return VerifyBlock(program, {0, Size(program.instructions())}, 0);
}

}  // namespace sgd::artifact
