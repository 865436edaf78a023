// Why ops communicate once they are local.
#ifndef SGD_PASSES_SPMD_PARTITION_EXPLAIN_MOVEMENT_H
#define SGD_PASSES_SPMD_PARTITION_EXPLAIN_MOVEMENT_H

#include "dialects/sgd/decision.h"

namespace mlir::sgd {

/// Why a local rule of `op` communicates: the op and its location.
inline Decision explainMovement(Operation* op) {
  Decision decision = Decision::at(DecisionKind::Movement, op->getLoc());
  decision.movement = Movement{.cause = MovementCause::Moves, .op = op->getName().getStringRef().str()};
  return decision;
}

}  // namespace mlir::sgd

#endif
