// Values that a value is computed from, through loops and branches.
#ifndef SGD_PASSES_GRAPH_CARRY_VALUE_SOURCES_H
#define SGD_PASSES_GRAPH_CARRY_VALUE_SOURCES_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// Calls `visit` with the values that `value` is computed from in one step: its op's operands; of a loop or branch what
/// its data-flow edge carries, for results also what decides. Arguments of the function have none.
void visitSources(Value value, llvm::function_ref<void(Value)> visit);

}  // namespace mlir::sgd

#endif
