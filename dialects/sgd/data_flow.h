// Data-flow edges: which tensors of a loop or branch are one value.
#ifndef SGD_DIALECTS_SGD_DATA_FLOW_H
#define SGD_DIALECTS_SGD_DATA_FLOW_H

#include <optional>

#include "mlir/IR/OpDefinition.h"

namespace mlir::sgd {

/// Tensors that hold one value, or one after another: what is in a source comes out of the targets. All have one type,
/// but for a manual computation, inside of which they are a rank's part. Of
///
///   %r:2 = sgd.while (%a, %b) trips 8 do { ^bb0(%x, %y): ...  sgd.yield %v, %w }
///
/// edge 0 leads from %a and %v to %x and %r#0, edge 1 from %b and %w to %y and %r#1. An op's edges are numbered: those
/// of its inputs, then those of its results where these are others.
struct DataFlowEdge {
  SmallVector<OpOperand*, 2> sources;  // the op's own operand first
  SmallVector<Value, 3> targets;       // arguments, those of bodies first; the result; arguments of a condition

  /// The target that stands for all.
  Value getOwner() const { return targets.front(); }
  /// The result among the targets; null for inputs of branches.
  OpResult getResult() const;
  /// Whether the value depends on which region runs, or how often: not where a loop leaves it as it is.
  bool isChosen() const;
};

/// Where an op's edges are. Operands from `firstInput` on are inputs, each with an argument of every block; regions
/// from `firstYielding` on yield one value for each result.
struct DataFlowForm {
  unsigned firstInput = 0;
  unsigned firstYielding = 0;
  bool carries = false;          // result i is on the edge of input i: a loop
  OpOperand* decider = nullptr;  // decides which regions run, or how often
};

}  // namespace mlir::sgd

#include "dialects/sgd/data_flow.h.inc"

namespace mlir::sgd {

/// Returns the edges of an op with the interface; none for any other op.
SmallVector<DataFlowEdge> getDataFlowEdges(Operation* op);

}  // namespace mlir::sgd

#endif
