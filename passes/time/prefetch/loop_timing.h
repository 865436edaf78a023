// How long an iteration of a loop takes while its gathers run beside its compute.
#ifndef SGD_PASSES_TIME_PREFETCH_LOOP_TIMING_H
#define SGD_PASSES_TIME_PREFETCH_LOOP_TIMING_H

#include "dialects/spmd/spmd_dialect.h"
#include "passes/timing/op_times.h"

namespace mlir::sgd {

/// An iteration on two clocks, of compute and of communication, as sgd-overlap-collectives makes it: `gathers`, in the
/// order of the body, start with the iteration, and each is waited for by its first reader. All other collectives are
/// waited for where they stand.
class LoopTiming {
 public:
  LoopTiming(WhileOp loop, ArrayRef<spmd::AllGatherOp> gathers, const OpTimes& times);

  /// When the first `numPrefetched` gathers were started by the iteration before, and this one, behind all others,
  /// gathers them for the next.
  double getSeconds(unsigned numPrefetched) const;

 private:
  struct Step {
    double seconds = 0;
    SmallVector<unsigned, 1> waitsFor;  // gathers
  };

  std::vector<Step> steps;
  SmallVector<double> gatherSeconds;
};

}  // namespace mlir::sgd

#endif
