// Arguments of a program that are the rows of one: parameters, and optimizer state, of matrices that share a stack.
#ifndef SGD_PASSES_GRAPH_TRAINING_STACKED_ARGUMENTS_H
#define SGD_PASSES_GRAPH_TRAINING_STACKED_ARGUMENTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/graph/training/matrix_stack_writer.h"

namespace mlir::sgd {

/// A stack of parameters, by their names.
struct ParameterStack {
  SmallVector<std::string> names;
  int64_t slots = 0, owners = 0;  // as of a MatrixStack
};

/// The attributes of a stacked argument: name, role, parts and the sharding `axes`.
SmallVector<NamedAttribute> getStackAttributes(Builder& builder, Role role, ArrayRef<std::string> names,
                                               ArrayRef<SmallVector<int64_t>> shapes, ArrayAttr axes);

/// Adds what says which tensors `argument` is for the user, where it is several.
void addParts(func::FuncOp function, unsigned argument, SmallVectorImpl<NamedAttribute>& attributes);

/// Adds an argument with the parameters of `stack` as rows behind all others, and replaces these by its rows, gathered
/// once. Their arguments stay, unused. Returns its position.
unsigned addStackedParameters(func::FuncOp function, const ParameterStack& stack, const MatrixRanks& ranks);

/// Erases the arguments of the parameters in `stacks`; carried results follow the others.
void eraseParameters(func::FuncOp function, ArrayRef<ParameterStack> stacks);

}  // namespace mlir::sgd

#endif
