// Simulated steps as SVG.
#ifndef SGD_COMPILER_SIMULATION_DRAWING_H
#define SGD_COMPILER_SIMULATION_DRAWING_H

#include "compiler/simulation/estimate.h"

namespace mlir::sgd {

/// The timeline of a step over an axis of time: a row for computing, one for collectives and one for messages of each
/// stage that has any, in the colours of phases and with numbers of micro-batches. What is too short to be seen is
/// drawn together with its neighbours.
std::string drawTimeline(const Machine& machine, const StepEstimate& estimate);

/// Steps per second times ranks, beside what the first estimate's rate promises, over the number of ranks.
std::string drawScaling(llvm::ArrayRef<StepEstimate> sweep);

}  // namespace mlir::sgd

#endif
