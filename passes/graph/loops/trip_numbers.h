// Integers of loops with known trips, computed for each trip however a frontend writes them.
#ifndef SGD_PASSES_GRAPH_LOOPS_TRIP_NUMBERS_H
#define SGD_PASSES_GRAPH_LOOPS_TRIP_NUMBERS_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// The value of a constant whose elements are all one integer.
std::optional<int64_t> getInteger(Value value);

/// An iter_arg of one integer that is `begin` in the first trip and `step` more in each later one.
struct Counter {
  unsigned iterArg;
  int64_t begin, step;
};

/// The counter that an iter_arg is; nothing for any other.
std::optional<Counter> getCounter(WhileOp loop, unsigned iterArg);

/// The value of `counter` at the beginning of `trip`.
DenseElementsAttr getCounterValue(WhileOp loop, const Counter& counter, int64_t trip);

/// Returns the integer `value`, in the body of `loop`, by trip; nothing if it is unknown in some trip, or if the loop
/// has no known number of trips or more than 65,536 (4,096 where more than sums of counters and constants are needed).
std::optional<SmallVector<int64_t>> getTripValues(WhileOp loop, Value value);

/// Whether `index`, of the body of `loop`, is one of [0, size) in every trip.
bool isInside(WhileOp loop, Value index, int64_t size);

}  // namespace mlir::sgd

#endif
