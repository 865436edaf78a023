// In which types a product of floats is taken, and what of it the target's library must be given in another form.
#ifndef SGD_PASSES_SCHEDULE_PRODUCT_TYPES_H
#define SGD_PASSES_SCHEDULE_PRODUCT_TYPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "passes/schedule/contraction_shape.h"

namespace mlir::sgd {

/// Element types of a product: `operand` of both its operands, `result` as the library writes it.
struct ProductTypes {
  Type operand;
  Type result;
};

/// For a product of these elements. Nothing is rounded before the sum: operands have the narrowest type that holds all
/// of them, the wanted result's included, or their own where products keep sums (`keepSums`: results of the type that
/// sums are taken in) and the sums are wanted. Floats of 8 bits become f16 or bf16 where products keep sums, f32
/// elsewhere.
ProductTypes getProductTypes(Type lhs, Type rhs, Type result, bool keepSums);

/// Whether a library may take operands of f8 and write `result`: f32, bf16 or f16, and not both operands E5M2
/// (cublasLtMatmul's table of FP8 kernels).
bool isFloat8Product(Type lhs, Type rhs, Type result);

/// Whether products of this shape are of the one form that FP8 kernels have on all GPUs: the contracted dimension has
/// stride 1 in both operands, and sizes and other strides are multiples of 16 elements.
bool hasFloat8Form(const ContractionShape& shape);

}  // namespace mlir::sgd

#endif
