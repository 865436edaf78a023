// Blocks follow one another without gaps, so begins are sums of sizes.
#include "runtime/artifact/control_flow.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/saturating.h"

namespace sgd::artifact {
namespace {

absl::Status Error(const Program& program, uint64_t index, const std::string& what) {
  const Instruction& instruction = *program.instructions()->Get(static_cast<uint32_t>(index));
  return absl::InvalidArgumentError(absl::StrCat("instruction ", index, " (", OperationName(instruction), "): ", what));
}

absl::Status VerifyLoop(const VerifyContext& context, const Loop& loop) {
  if (loop.predicate() != nullptr) {
    if (loop.predicate()->size() == 0) return absl::InvalidArgumentError("the predicate has no byte");
    return VerifySlice(context, loop.predicate(), "the predicate");
  }
  if (loop.condition() != 0) return absl::InvalidArgumentError("a condition without a predicate");
  return absl::OkStatus();
}

absl::Status VerifyCase(const VerifyContext& context, const Case& branches) {
  if (Size(branches.branches()) == 0) return absl::InvalidArgumentError("a case without branches");
  if (absl::Status status = VerifySlice(context, branches.index(), "the number of the branch"); !status.ok()) {
    return status;
  }
  return branches.index()->size() >= sizeof(int32_t)
             ? absl::OkStatus()
             : absl::InvalidArgumentError("the number of the branch is larger than its slice");
}

absl::Status VerifyBlock(const VerifyContext& context, const Program& program, Block block, int depth) {
  for (uint64_t i = block.begin; i < block.end; i = Next(program, i)) {
    const Instruction& instruction = *program.instructions()->Get(static_cast<uint32_t>(i));
    absl::Status status = absl::OkStatus();
    if (const Loop* loop = instruction.op_as_Loop()) status = VerifyLoop(context, *loop);
    if (const Case* branches = instruction.op_as_Case()) status = VerifyCase(context, *branches);
    if (!status.ok()) return Error(program, i, std::string(status.message()));
    const std::vector<Block> blocks = BlocksOf(program, i);
    if (blocks.empty()) continue;
    if (depth == kMaxDepth) return Error(program, i, absl::StrCat("lies deeper than ", kMaxDepth, " others"));
    if (Next(program, i) > block.end) return Error(program, i, "runs instructions that are not there");
    for (const Block& inner : blocks) {
      if (status = VerifyBlock(context, program, inner, depth + 1); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<Block> BlocksOf(const Program& program, uint64_t index) {
  const Instruction& instruction = *program.instructions()->Get(static_cast<uint32_t>(index));
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

uint64_t ExecutionsOf(const Program& program, uint64_t index) {
  uint64_t executions = 1;
  uint64_t at = 0;
  while (at < index) {
    const uint64_t next = Next(program, at);
    if (next <= index) {
      at = next;
      continue;
    }
    const Loop* loop = program.instructions()->Get(static_cast<uint32_t>(at))->op_as_Loop();
    if (loop != nullptr && loop->predicate() == nullptr) executions = SaturatingProduct({executions, loop->trips()});
    ++at;
  }
  return executions;
}

absl::Status VerifyControlFlow(const VerifyContext& context, const Program& program) {
  return VerifyBlock(context, program, {0, Size(program.instructions())}, 0);
}

}  // namespace sgd::artifact
