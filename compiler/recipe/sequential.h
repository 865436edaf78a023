// A sequential axis: the batch of each program is cut over it.
#ifndef SGD_COMPILER_RECIPE_SEQUENTIAL_H
#define SGD_COMPILER_RECIPE_SEQUENTIAL_H

#include "compiler/options.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::sgd {

/// Adds `axis` to the mesh of each program as its sequential axis, and marks dimension 0 of its batch: of the inputs
/// whose rows are sharded, and of those with as many rows that no annotation speaks of. Where none is sharded, of all
/// that no annotation speaks of, and where there is none, of all with rows; these must have equally many. A
/// program that carries no state, beside others, stays whole, with a remark, where its rows are not so many equal
/// parts. Annotations are final. `source` names the axis in errors: `--micro`, or a recipe's field.
LogicalResult cutBatch(llvm::MutableArrayRef<OwningOpRef<ModuleOp>> programs, const MeshAxisSize& axis,
                       llvm::StringRef source);

}  // namespace mlir::sgd

#endif
