// The carry of a function.
#ifndef SGD_PASSES_GRAPH_CARRY_FUNCTION_CARRY_H
#define SGD_PASSES_GRAPH_CARRY_FUNCTION_CARRY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/graph/carry/decide.h"

namespace mlir::sgd {

/// Decides by names, types and dataflow of a public function on ranked tensors with one block.
CarryDecision decideCarry(func::FuncOp function);

/// Sets the attributes of carry_attrs.h.
void writeCarry(func::FuncOp function, const CarryDecision& decision);

}  // namespace mlir::sgd

#endif
