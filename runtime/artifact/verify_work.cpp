// One walk with the product of the trip counts around it; sums that do not fit into 64 bits saturate.
#include "runtime/artifact/verify_work.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/control_flow.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/saturating.h"
#include "runtime/artifact/schema_names.h"
#include "runtime/linear_algebra/form.h"

namespace sgd::artifact {
namespace {

uint64_t WorkOf(const Matmul& matmul) {
  uint64_t work = SaturatingProduct({matmul.m(), matmul.n(), matmul.k()});
  for (uint32_t i = 0; i < Size(matmul.batch_dims()); ++i)
    work = SaturatingProduct({work, matmul.batch_dims()->Get(i)});
  return work;
}

uint64_t WorkOf(const Convolution& c) {
  uint64_t work = SaturatingProduct({c.batch()->size(), c.groups()->size(), c.inputs()->size(), c.outputs()->size()});
  for (uint32_t i = 0; i < Size(c.spatial()); ++i)
    work = SaturatingProduct({work, c.spatial()->Get(i)->output(), c.spatial()->Get(i)->kernel()});
  return work;
}

uint64_t WorkOf(const Attention& a) {
  const uint64_t depth = SaturatingSum(a.depth(), a.value_depth());
  return SaturatingProduct({a.batch(), a.heads(), a.rows(), a.columns(), depth});
}

uint64_t WorkOf(const LinearAlgebra& call) {
  const linear_algebra::Form form{static_cast<linear_algebra::Kind>(call.kind()), call.options(), call.m(), call.n(),
                                  call.k()};
  return SaturatingProduct({call.batch(), linear_algebra::FlopsOf(form) / 2});
}

uint64_t WorkOf(const Tiled& tiled) {
  uint64_t work = 0, tiles = 1;
  for (uint32_t i = 0; i < Size(tiled.steps()); ++i) {
    if (const Matmul* matmul = tiled.steps()->Get(i)->op_as_Matmul()) work = SaturatingSum(work, WorkOf(*matmul));
  }
  for (uint32_t i = 0; i < Size(tiled.loops()); ++i) tiles = SaturatingProduct({tiles, tiled.loops()->Get(i)});
  return SaturatingProduct({tiles, work});
}

class StepWork {
 public:
  explicit StepWork(const Program& program) : program_(program) {}

  // Adds the work of a block that runs `times` times.
  absl::Status Add(Block block, uint64_t times) {
    for (uint64_t i = block.begin; i < block.end; i = Next(program_, i)) {
      const Instruction& instruction = *program_.instructions()->Get(static_cast<uint32_t>(i));
      executions_ = SaturatingSum(executions_, times);
      if (executions_ > kMaxExecutions) return TooMuch(i, kMaxExecutions, "executions of instructions");
      work_ = SaturatingSum(work_, SaturatingProduct({times, MultiplicationsOf(instruction)}));
      if (work_ > kMaxMultiplications) return TooMuch(i, kMaxMultiplications, "multiplications");
      const Loop* loop = instruction.op_as_Loop();
      const uint64_t trips = loop != nullptr && loop->predicate() == nullptr ? loop->trips() : 1;
      if (trips > kMaxExecutions) return TooMuch(i, kMaxExecutions, "trips of a loop");
      for (const Block& inner : BlocksOf(program_, i)) {
        if (absl::Status status = Add(inner, SaturatingProduct({times, trips})); !status.ok()) return status;
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status TooMuch(uint64_t index, uint64_t limit, const char* what) const {
    return InstructionError(program_, index,
                            absl::StrCat("a step has more than ", limit, " ", what,
                                         " up to it; expected no more; make loops shorter or tensors smaller"));
  }

  const Program& program_;
  uint64_t executions_ = 0, work_ = 0;
};

}  // namespace

uint64_t MultiplicationsOf(const Instruction& instruction) {
  switch (instruction.op_type()) {
    case Operation::Matmul:
      return WorkOf(*instruction.op_as_Matmul());
    case Operation::Convolution:
      return WorkOf(*instruction.op_as_Convolution());
    case Operation::Attention:
      return WorkOf(*instruction.op_as_Attention());
    case Operation::LinearAlgebra:
      return WorkOf(*instruction.op_as_LinearAlgebra());
    case Operation::Tiled:
      return WorkOf(*instruction.op_as_Tiled());
    // No more than a pass over what they touch; what loops and branches run is counted where it stands.
    case Operation::NONE:
    case Operation::Launch:
    case Operation::LaunchGroup:
    case Operation::Collective:
    case Operation::Done:
    case Operation::Copy:
    case Operation::Fill:
    case Operation::Loop:
    case Operation::Case:
    case Operation::Send:
    case Operation::Receive:
    case Operation::HostCall:
      return 0;
  }
  return 0;
}

absl::Status VerifyStepWork(const Program& program) {
  return StepWork(program).Add({0, Size(program.instructions())}, 1);
}

}  // namespace sgd::artifact
