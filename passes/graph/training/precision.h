// Mixed precision: a forward function that computes in narrow floats and keeps its parameters in f32.
#ifndef SGD_PASSES_GRAPH_TRAINING_PRECISION_H
#define SGD_PASSES_GRAPH_TRAINING_PRECISION_H

#include "dialects/sgd/sgd_dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/graph/training/training_settings.h"

namespace mlir::sgd {

/// Makes contractions and convolutions of f32 compute in a type of 16 bits, and what moves, adds, multiplies or
/// compares their results where no other f32 takes part. Everything else stays in f32: sums, exponentials,
/// normalizations, losses. Ops that `staysWide` are left as they are.
void narrowCompute(func::FuncOp function, NarrowType type, llvm::function_ref<bool(Operation*)> staysWide);

/// Lets contractions that a gradient is widened from return f32, so that what ranks add up is not rounded before.
void widenSums(MutableArrayRef<Value> gradients);

}  // namespace mlir::sgd

#endif
