// The local rule of reshapes.
#ifndef SGD_PASSES_PARTITION_RESHAPE_RULES_H
#define SGD_PASSES_PARTITION_RESHAPE_RULES_H

#include "passes/partition/local_rules.h"

namespace mlir::sgd {

/// Makes `op` local. Where the tiles of a merged or split dimension on one side are not those on the other, ranks fetch
/// what their result lacks; then the value to which the op's uses were redirected is returned, else null. Fails with a
/// diagnostic when elements do not lie on the ranks in the same order on both sides.
FailureOr<Value> localizeReshape(ReshapeOp op, const LocalisedOp& localised, ReshardEmitter& emitter);

}  // namespace mlir::sgd

#endif
