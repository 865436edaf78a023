// Moves buffers between spaces and replaces one by another.
#ifndef SGD_PASSES_PLAN_MEMORY_SPACES_H
#define SGD_PASSES_PLAN_MEMORY_SPACES_H

#include "dialects/plan/plan_dialect.h"

namespace mlir::sgd {

/// Changes the space of `root` (an alloc or argument), of all views of it and of the arguments that it is passed as.
/// The type of root's own function is not updated.
void setSpace(Value root, plan::Space space);

/// Puts operands and the arguments that they are passed to in one space: in the window when either must be there. A
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
