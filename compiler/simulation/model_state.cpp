#include "compiler/simulation/model_state.h"

#include <algorithm>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "runtime/artifact/accesses.h"
#include "runtime/artifact/control_flow.h"

using namespace mlir::sgd;
namespace artifact = ::sgd::artifact;

namespace {

bool overlapsAny(const artifact::Slice& slice, const std::vector<artifact::Slice>& others) {
  return std::any_of(others.begin(), others.end(),
                     [&](const artifact::Slice& other) { return artifact::Overlap(slice, other); });
}

bool isSame(const artifact::Slice& a, const artifact::Slice& b) {
  return a.space() == b.space() && a.offset() == b.offset() && a.size() == b.size();
}

/// The accesses of the instructions from `begin` to `end`, all branches taken.
artifact::Accesses collect(const artifact::Program& program, uint64_t begin, uint64_t end) {
  artifact::Accesses all;
  for (uint64_t index = begin; index < end; ++index) {
    artifact::Accesses some = artifact::AccessesOf(*program.instructions()->Get(index));
    all.reads.insert(all.reads.end(), some.reads.begin(), some.reads.end());
    all.updates.insert(all.updates.end(), some.updates.begin(), some.updates.end());
    all.writes.insert(all.writes.end(), some.writes.begin(), some.writes.end());
  }
  return all;
}

uint64_t sumKept(const artifact::Program& program) {
  uint64_t bytes = 0;
  if (!program.inputs()) return bytes;
  for (const artifact::Input* input : *program.inputs())
    if (input->state()) bytes += input->slice()->size();
  return bytes;
}

/// A buffer that may hold a sum.
struct Sum {
  artifact::Slice slice;
  bool hasChanged = false;  // in a loop
};

/// Buffers on their way from zeros to sums.
class Sums {
 public:
  void visitLoop(const artifact::Accesses& accesses) {
    for (Sum& sum : sums) sum.hasChanged |= overlapsAny(sum.slice, accesses.writes);
  }

  /// An instruction outside of loops. The bytes of sums that it is the first to read.
  uint64_t visit(const artifact::Instruction& instruction, const artifact::Accesses& accesses) {
    uint64_t bytes = 0;
    const artifact::Copy* copy = instruction.op_as_Copy();
    bool copiesZeros = false, isKernel = instruction.op_as_Launch() || instruction.op_as_LaunchGroup();
    std::erase_if(sums, [&](const Sum& sum) {
      // Kernels take what they change in place as one pointer, which is written.
      bool isRead =
          overlapsAny(sum.slice, accesses.reads) || overlapsAny(sum.slice, accesses.updates) ||
          (isKernel && llvm::any_of(accesses.writes, [&](const auto& slice) { return isSame(slice, sum.slice); }));
      if (isRead && sum.hasChanged) bytes += sum.slice.size();
      if (isRead && !sum.hasChanged && copy) copiesZeros = true;
      return (isRead && sum.hasChanged) || overlapsAny(sum.slice, accesses.writes);
    });
    if (instruction.op_as_Fill()) sums.push_back({*instruction.op_as_Fill()->target()});
    if (copiesZeros) sums.push_back({*copy->target()});
    return bytes;
  }

 private:
  std::vector<Sum> sums;
};

}  // namespace

ModelState mlir::sgd::measureModelState(const artifact::Program& program) {
  ModelState state{sumKept(program), 0};
  uint64_t count = program.instructions() ? program.instructions()->size() : 0;
  Sums sums;
  for (uint64_t index = 0; index < count; index = artifact::Next(program, index)) {
    const artifact::Instruction& instruction = *program.instructions()->Get(index);
    artifact::Accesses accesses = collect(program, index, artifact::Next(program, index));
    if (instruction.op_as_Loop())
      sums.visitLoop(accesses);
    else
      state.gradients += sums.visit(instruction, accesses);
  }
  return state;
}
