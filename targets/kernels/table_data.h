// Constants with several elements as read-only data of a kernel.
#ifndef SGD_TARGETS_KERNELS_TABLE_DATA_H
#define SGD_TARGETS_KERNELS_TABLE_DATA_H

#include "llvm/IR/Constants.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace mlir::sgd::kernels {

/// The elements as stored in memory.
llvm::Constant* tableData(DenseElementsAttr table, llvm::LLVMContext& context);

}  // namespace mlir::sgd::kernels

#endif
