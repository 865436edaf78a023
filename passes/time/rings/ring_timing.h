// The time that rings save, by the cost model.
#ifndef SGD_PASSES_TIME_RINGS_RING_TIMING_H
#define SGD_PASSES_TIME_RINGS_RING_TIMING_H

#include "passes/cost/cost_model.h"
#include "passes/time/rings/gathered_matmul.h"
#include "passes/time/rings/scattered_matmul.h"

namespace mlir::sgd {

/// Seconds of the collective and the matmuls, one after the other, less those of the ring.
double getSavedSeconds(const GatheredMatmul& matmul, const CostModel& cost);
double getSavedSeconds(const ScatteredMatmul& matmul, const CostModel& cost);

}  // namespace mlir::sgd

#endif
