// Integers of loops that count: what they are in each iteration.
#ifndef SGD_PASSES_GRAPH_LOOPS_TRIP_NUMBERS_H
#define SGD_PASSES_GRAPH_LOOPS_TRIP_NUMBERS_H

#include <optional>
#include <utility>

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// The value of a constant whose elements are all one integer.
std::optional<int64_t> getInteger(Value value);

/// Where an iter_arg begins and what each iteration adds, if that is all that happens to it.
std::optional<std::pair<int64_t, int64_t>> getProgression(WhileOp loop, unsigned iterArg);

/// Whether `index`, of the body of `loop`, is one of [0, size) in every iteration.
bool isInside(WhileOp loop, Value index, int64_t size);

}  // namespace mlir::sgd

#endif
