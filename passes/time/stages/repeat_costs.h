// The cost of running an op again in a later slot instead of storing its results. The IR is only read.
#ifndef SGD_PASSES_TIME_STAGES_REPEAT_COSTS_H
#define SGD_PASSES_TIME_STAGES_REPEAT_COSTS_H

#include "passes/time/stages/program_flow.h"
#include "passes/timing/op_times.h"

namespace mlir::sgd {

/// By time: a stored byte counts four times as long as it takes to write and to read it, for the memory that it holds
/// until then.
///
/// - Elementwise ops and moves count as a part of what they give: kernels compute them as they read their operands.
/// - A matmul counts as the model of its device says. Of those that take less time than their results are worth there
///   are few: the scores of attention, and others that sum over few elements.
/// - A reduction of what such a matmul is read through, as the maxima and sums of a softmax, costs next to nothing:
///   the matmul is computed again with it. All other reductions, collectives and loops run once.
class RepeatCosts {
 public:
  RepeatCosts(const ProgramFlow& flow, const OpTimes& times);

  /// In stored bytes; nothing where the op runs once.
  std::optional<int64_t> get(Operation* op) const;
  /// Returns the time of an op; 0 if it takes none of its own.
  double getSeconds(Operation* op) const { return seconds.lookup(op); }

 private:
  void addMatmul(Operation* op, const OpTimes& times);

  DenseMap<Operation*, int64_t> bytes;   // of matmuls and of reductions
  DenseMap<Operation*, double> seconds;  // of matmuls
};

}  // namespace mlir::sgd

#endif
