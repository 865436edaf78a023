// Matmuls of a loop's body that can be computed outside of it for all trips at once, and their rewriting.
#ifndef SGD_PASSES_TIME_HOIST_LOOP_MATMULS_H
#define SGD_PASSES_TIME_HOIST_LOOP_MATMULS_H

#include "passes/time/hoist/trip_values.h"

namespace mlir::sgd {

/// A matmul of the body, and where it is computed instead.
struct MovedMatmul {
  enum class Kind {
    Projection,  ///< in front of the loop; trips read rows of it
    Sum,         ///< behind the loop, over the trips too: the body only adds it to sums
    Rows,        ///< behind the loop, for all trips: the body only stacks it
  };
  /// The ops by which the matmul's result comes to a sum or a stack, in order.
  struct Path {
    SmallVector<Operation*, 4> ops;
    unsigned iterArg = 0;  ///< the sum or the stack
  };

  Kind kind = Kind::Projection;
  DotGeneralOp op;
  SmallVector<Path, 1> paths;
  SmallVector<Value, 2> stacked;  ///< values that the loop must stack for it
  int64_t savedBytes = 0;         ///< that a trip reads and writes less
  int64_t heldBytes = 0;          ///< that a trip leaves in memory
};

/// The matmul that saves the most bytes outside of the loop and leaves at most `heldBytes` in memory; none if none
/// saves bytes.
std::optional<MovedMatmul> findMatmul(TripValues& values, int64_t heldBytes);

/// Rewrites the loop, and what reads its results.
void moveMatmul(TripValues& values, const MovedMatmul& matmul);

}  // namespace mlir::sgd

#endif
