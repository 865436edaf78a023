// Over which axes of the mesh values of a manual computation differ between ranks. Loops and branches must know before
// their bodies are batched: what one iteration leaves is what the next one begins with.
#ifndef SGD_PASSES_SHARDING_MANUAL_DIFFERING_AXES_H
#define SGD_PASSES_SHARDING_MANUAL_DIFFERING_AXES_H

#include "passes/sharding/manual/rank_arithmetic.h"

namespace mlir::sgd {

/// A least fixed point over loop-carried values: a value differs over the axes over which its op's operands do, more or
/// fewer of them after a collective, and what a loop or branch decides differs over the axes of what decides.
class DifferingAxes {
 public:
  /// `ranks` learns the scalars that are known for every rank, inside of loops and branches too.
  DifferingAxes(const CutMesh& mesh, RankArithmetic& ranks) : mesh(mesh), ranks(ranks) {}

  /// Visits the body of `op`, whose operands differ over `inputs`, and the regions in it.
  void visit(ManualComputationOp op, ArrayRef<AxisIndices> inputs);

  /// The axes over which `value`, of the body or of a region in it, may differ. Of a loop's arguments: in any
  /// iteration.
  AxisIndices getAxes(Value value) const { return axes.lookup(value); }
  /// The axes over which ranks may differ about going on. A loop that some ranks reach only in place of others does.
  AxisIndices getPredicateAxes(WhileOp loop) const { return predicates.lookup(loop); }

 private:
  void visitBlock(Block& block);
  void visitOp(Operation* op);
  void visitDataFlow(DataFlowOpInterface op);
  /// Regions know the scalars that come in as they are.
  void shareKnown(ArrayRef<DataFlowEdge> edges);
  /// Targets of edges differ where sources do, and those that a decision chooses over `decided`; true when an argument
  /// does over more than before.
  bool flow(ArrayRef<DataFlowEdge> edges, const AxisIndices& decided);
  AxisIndices getManualAxes(ManualComputationOp op, ArrayRef<AxisRefAttr> of) const;
  AxisIndices uniteOperands(Operation* op) const;

  const CutMesh& mesh;
  RankArithmetic& ranks;
  AxisIndices manual;    // of all computations around the op at hand
  AxisIndices deciding;  // over which ranks may differ about running the block at hand
  DenseMap<Value, AxisIndices> axes;
  DenseMap<Operation*, AxisIndices> predicates;
};

}  // namespace mlir::sgd

#endif
