// From tensors to instructions and buffers; see passes.td.
#ifndef SGD_PASSES_PLAN_LOWERING_PASSES_H
#define SGD_PASSES_PLAN_LOWERING_PASSES_H

#include <functional>
#include <memory>

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/plan/plan_dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/kernels/library/library_model.h"

namespace mlir::sgd {

#define GEN_PASS_DECL
#include "passes/plan/lowering/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/plan/lowering/passes.h.inc"

/// A target's description of a cluster as a kernel.
struct KernelDescription {
  int64_t range = 1;                                             ///< parallel iterations
  int64_t grain = 1;                                             ///< smallest useful part of them
  SmallVector<std::pair<unsigned, unsigned>> inPlaceCandidates;  ///< (result, operand)
  SmallVector<AxisListAttr> coordinates;
};

/// A target's view of kernels. `key` is equal for clusters that are one kernel.
struct KernelModel {
  std::function<FailureOr<KernelDescription>(fusion::ClusterOp)> describe;
  std::function<std::string(fusion::ClusterOp)> key;
};

/// sgd-lower-to-plan with a target's model of kernels, and its libraries, which outlive the pass.
std::unique_ptr<Pass> createLowerToPlanPass(KernelModel model, const LibraryModel& libraries);

}  // namespace mlir::sgd

#endif
