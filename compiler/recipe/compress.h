// Which axes' reductions of gradients are compressed.
#ifndef SGD_COMPILER_RECIPE_COMPRESS_H
#define SGD_COMPILER_RECIPE_COMPRESS_H

#include "compiler/recipe/recipe.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::sgd {

/// Tells all programs how to compress: see kCompressAttr. An axis that the mesh has not is an error.
LogicalResult applyCompress(llvm::MutableArrayRef<OwningOpRef<ModuleOp>> programs, const Recipe& recipe);

/// After reductions were compressed: an axis of several ranks over which none was is an error, which says why.
LogicalResult checkCompressed(llvm::MutableArrayRef<OwningOpRef<ModuleOp>> programs, const Recipe& recipe);

/// The names of what compression keeps from step to step belong to the compiler: an argument that has such a name is an
/// error.
LogicalResult checkStateNames(ModuleOp program);

}  // namespace mlir::sgd

#endif
