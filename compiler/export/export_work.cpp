#include "compiler/export/export_work.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::sgd;
namespace artifact = ::sgd::artifact;

static_assert(kNumOperationKinds == static_cast<size_t>(artifact::OperationKind::MAX) + 1);
static_assert(kNumPrecisions == static_cast<size_t>(artifact::Precision::MAX) + 1);

void mlir::sgd::addWork(const Work& work, artifact::InstructionT& instruction) {
  instruction.bytes += static_cast<uint64_t>(work.getBytes());
  instruction.flops += static_cast<uint64_t>(work.getFlops());
  for (size_t kind = 0; kind < kNumOperationKinds; ++kind)
    for (size_t precision = 0; precision < kNumPrecisions; ++precision) {
      double count = work.get(OperationKind(kind), Precision(precision));
      if (count == 0) continue;
      artifact::OperationCount added(artifact::OperationKind(kind), artifact::Precision(precision), count);
      auto known = llvm::find_if(instruction.operations, [&](const artifact::OperationCount& one) {
        return one.kind() == added.kind() && one.precision() == added.precision();
      });
      if (known == instruction.operations.end())
        instruction.operations.push_back(added);
      else
        *known = artifact::OperationCount(added.kind(), added.precision(), known->count() + count);
    }
}
