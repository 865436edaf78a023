// Ops whose attributes or values depend on shapes: how each is rewritten for one shard. All other ops only change their
// types.
#ifndef SGD_PASSES_PARTITION_LOCAL_RULES_H
#define SGD_PASSES_PARTITION_LOCAL_RULES_H

#include "passes/partition/reshard_emitter.h"

namespace mlir::sgd {

/// An op about to become local: it has passed `checkFitsRule`; `globalTypes` are the types of its operands before
/// localisation.
struct LocalisedOp {
  Operation* op;
  ArrayRef<RankedTensorType> globalOperands;
  ArrayRef<RankedTensorType> globalResults;
  ArrayRef<RankedTensorType> localResults;
};

/// Gives `localised.op` its local attributes and result types, in place. Some ops need others behind them: then the
/// value to which the uses of the op's result were redirected is returned, else null.
FailureOr<Value> localizeOp(const LocalisedOp& localised, ReshardEmitter& emitter);

}  // namespace mlir::sgd

#endif
