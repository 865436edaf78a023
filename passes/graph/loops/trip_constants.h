// Integers of loops with known trips, computed for each trip however a frontend writes them.
#ifndef SGD_PASSES_GRAPH_LOOPS_TRIP_CONSTANTS_H
#define SGD_PASSES_GRAPH_LOOPS_TRIP_CONSTANTS_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// An iter_arg that starts from a constant and to which each trip adds `step`.
struct Counter {
  unsigned iterArg;
  int64_t step;
};

/// The step of a counter; nothing for any other iter_arg.
std::optional<int64_t> getCounterStep(WhileOp loop, unsigned iterArg);

/// The value of `counter` at the beginning of `trip`.
DenseElementsAttr getCounterValue(WhileOp loop, Counter counter, int64_t trip);

/// Folds scalars of one trip, from its counters and what no trip changes.
class TripConstants {
 public:
  TripConstants(WhileOp loop, ArrayRef<Counter> counters, int64_t trip);

  /// The integer that `value`, of the body, is in this trip; nothing where it is not known.
  std::optional<int64_t> get(Value value);

 private:
  Attribute fold(Value value);
  Attribute compute(Value value);

  DenseMap<Value, Attribute> known;  // null: not constant
};

/// Returns the integer `value`, in the body of `loop`, by trip; nothing if it is unknown in some trip, or if
/// the loop has no known number of trips or more than 4096.
std::optional<SmallVector<int64_t>> getTripValues(WhileOp loop, Value value);

}  // namespace mlir::sgd

#endif
