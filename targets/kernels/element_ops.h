// One elementwise op of arith, math or sgd as code on lane values.
#ifndef SGD_TARGETS_KERNELS_ELEMENT_OPS_H
#define SGD_TARGETS_KERNELS_ELEMENT_OPS_H

#include "dialects/sgd/sgd_dialect.h"
#include "targets/kernels/vector_builder.h"

namespace mlir::sgd::kernels {

/// The value of `op` (elementwise, on tensors) for operand lanes in computing types; null when the op has no code.
llvm::Value* emitElementOp(const VectorBuilder& v, Operation* op, llvm::ArrayRef<llvm::Value*> operands);

/// `attribute`, a constant of element type `type`, in the type it is computed in.
llvm::Constant* emitScalarConstant(const VectorBuilder& v, TypedAttr attribute, mlir::Type type);

/// Combines two values of a reduction of computing type; `type` is the element type of the reduced tensor.
llvm::Value* emitCombiner(const VectorBuilder& v, ReduceKind kind, mlir::Type type, llvm::Value* x, llvm::Value* y);

/// The combination of `before` and `update` in a scatter.
llvm::Value* emitScatterCombiner(const VectorBuilder& v, ScatterKind kind, mlir::Type type, llvm::Value* before,
                                 llvm::Value* update);

/// Larger or smaller of two floats; NaN when one is.
llvm::Value* emitFloatExtreme(const VectorBuilder& v, bool larger, llvm::Value* x, llvm::Value* y);

}  // namespace mlir::sgd::kernels

#endif
