// The comparisons of sorts and choices.
#ifndef SGD_TARGETS_KERNELS_ELEMENT_ORDER_H
#define SGD_TARGETS_KERNELS_ELEMENT_ORDER_H

#include "targets/kernels/vector_builder.h"

namespace mlir::sgd::kernels {

/// i1: the result of a sort's comparator on the tuples `x` and `y`, whose elements are as stored in memory. Null, with
/// an error, when an op in it has no code.
llvm::Value* emitComesFirst(const VectorBuilder& v, Block& comparator, llvm::ArrayRef<llvm::Value*> x,
                            llvm::ArrayRef<llvm::Value*> y);

/// An integer that is ordered as the element of `type`, which is as stored in memory: floats by their total order.
llvm::Value* emitOrderKey(const VectorBuilder& v, mlir::Type type, llvm::Value* memory);

}  // namespace mlir::sgd::kernels

#endif
