// The cost of a step of a localised program for one rank.
#ifndef SGD_PASSES_SPMD_CHOICE_PROGRAM_COST_H
#define SGD_PASSES_SPMD_CHOICE_PROGRAM_COST_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/sharding/propagation/assignment.h"

namespace mlir::sgd {

/// Sums over a step, loops by their trips (those of unknown trips once) and all branches.
struct ProgramCost {
  double sentBytes = 0;   // by the ring rule
  double exchanges = 0;   // collectives but reductions, which are combined later
  double elements = 0;    // that ops compute, matmuls with each multiplication
  int64_t peakBytes = 0;  // of values that are alive at once in the order of the program

  /// Bytes sent, plus 1 KiB for each exchange, so that many small exchanges do not replace one.
  double getCommunication() const { return sentBytes + 1024 * exchanges; }

  /// That and, in the same unit, what is computed: the estimate by which sgd-shard resolves conflicts.
  double getTotal() const { return getCommunication() + getComputeCost(elements); }
};

/// `function` is at the SPMD level: local shapes and collectives.
ProgramCost measureProgram(func::FuncOp function);

}  // namespace mlir::sgd

#endif
