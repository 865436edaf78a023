// How host calls become local.
#ifndef SGD_PASSES_SPMD_PARTITION_HOST_CALL_RULES_H
#define SGD_PASSES_SPMD_PARTITION_HOST_CALL_RULES_H

#include "passes/spmd/partition/local_rules.h"

namespace mlir::sgd {

/// Those of each rank get its values without the coordinates that number the ranks, and results of rank 0's are
/// broadcast.
void attachHostCallRules(MLIRContext& context);

}  // namespace mlir::sgd

#endif
