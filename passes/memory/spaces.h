// Moving buffers between spaces and putting one in the place of another.
#ifndef SGD_PASSES_MEMORY_SPACES_H
#define SGD_PASSES_MEMORY_SPACES_H

#include "dialects/plan/plan_dialect.h"

namespace mlir::sgd {

/// Changes the space of `root` (an alloc or argument), of all views of it and of the arguments that it is passed as.
/// The type of root's own function is not updated.
void setSpace(Value root, plan::Space space);

/// Makes buffers that are passed and the arguments that take them lie in one space: in the window when either must. A
/// constant that must is copied there.
void unifyPassedSpaces(ModuleOp module);

/// `buffer` itself or a view of its first bytes with the shape and element type of `type`.
Value viewAs(OpBuilder& builder, Value buffer, MemRefType type);

/// All uses of `alloc` become uses of `target`, an alloc or argument of at least its size; both move to the window when
/// one is there.
void replaceBuffer(plan::AllocOp alloc, Value target);

/// Fails with an error unless `function` is one block of plan ops over buffers.
LogicalResult checkIsPlan(func::FuncOp function);

/// Makes the function's type agree with its block arguments and its return.
void updateFunctionType(func::FuncOp function);

}  // namespace mlir::sgd

#endif
