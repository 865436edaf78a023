// How often a loop runs that counts until a comparison fails.
#ifndef SGD_PASSES_GRAPH_LOOPS_TRIP_COUNT_H
#define SGD_PASSES_GRAPH_LOOPS_TRIP_COUNT_H

#include "dialects/sgd/sgd_dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::sgd {

/// Integers of up to 64 bits, with or without a sign, and their sums.
using WideInteger = __int128;

/// A counter that begins as `begin`, gets `step` more in each trip, and cannot hold less than `least` or more than
/// `most`.
struct CountedRange {
  WideInteger begin, step, least, most;
};

/// Returns how many trips a loop makes while `counter PREDICATE bound` holds, a comparison with signs. Nothing if it
/// never fails, or not before the counter overflows.
std::optional<int64_t> countTrips(const CountedRange& counter, arith::CmpIPredicate predicate, WideInteger bound);

/// Returns the number of trips of a loop whose condition compares a counter with a constant. Nothing for other
/// conditions.
std::optional<int64_t> findTrips(WhileOp loop);

/// Returns how many of `trips` trips, of `ops` ops each, may be unrolled where that should leave at most `limit` ops: a
/// quarter of them with more than 8 trips, and one trip always. Layers that a loop repeats are few and gain from seeing
/// each other. Steps of a sequence are many and gain nothing, while each of them costs time to compile.
int64_t getMostUnrolledTrips(int64_t trips, int64_t ops, int64_t limit);

}  // namespace mlir::sgd

#endif
