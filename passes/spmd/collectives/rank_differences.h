// Over which parts of the mesh's axes values of the SPMD level differ between ranks: what decides about collectives
// must differ over none.
#ifndef SGD_PASSES_SPMD_COLLECTIVES_RANK_DIFFERENCES_H
#define SGD_PASSES_SPMD_COLLECTIVES_RANK_DIFFERENCES_H

#include <map>
#include <string>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/sharding/reshard/sharding_state.h"

namespace mlir::sgd {

/// A least fixed point. Arguments differ over the axes that shard them and values over those of their op's operands,
/// more or fewer of them after a collective; results of a loop or branch also over the axes of what decides about it.
/// Ranks that agree on all operands of an op agree on its results, bit for bit. The axes of all ops must be parts of
/// the mesh.
class RankDifferences {
 public:
  /// The parts over which messages between stages differ, by program and channel.
  using Messages = std::map<std::pair<std::string, int64_t>, AxisParts>;

  /// `mesh` is that of all axes in `function`; null when there are none. What is received differs as `messages` says,
  /// to which what is sent is added.
  RankDifferences(func::FuncOp function, MeshAttr mesh, Messages& messages);
  /// Analyses a function that sends and receives nothing.
  RankDifferences(func::FuncOp function, MeshAttr mesh) : RankDifferences(function, mesh, none) {}

  /// Finds the messages of all functions of `module` together.
  static Messages findMessages(ModuleOp module, MeshAttr mesh);

  /// The parts over which `value` may differ. Of a loop's arguments: in any iteration.
  AxisParts get(Value value) const { return parts.lookup(value); }
  /// The parts over which ranks may differ about going on with a loop, or about which branch they take.
  AxisParts getDeciding(Operation* controlFlow) const { return deciding.lookup(controlFlow); }

 private:
  void visitBlock(Block& block);
  void visitOp(Operation& op);
  void visitDataFlow(DataFlowOpInterface op);
  /// Targets of edges differ where sources do, and those that a decision chooses where ranks `decided` apart; true when
  /// an argument does over more than before.
  bool flow(ArrayRef<DataFlowEdge> edges, const AxisParts& decided);
  /// Unites the axes of all values that are read in the regions of any other op.
  AxisParts uniteAllIn(Operation& op) const;
  AxisParts getAxes(AxisListAttr list) const { return getParts(mesh, list.getAxes()); }

  MeshAttr mesh;
  Messages none;
  Messages& messages;
  std::string program;  // that the function is of
  bool hasMoreMessages = false;
  llvm::DenseMap<Value, AxisParts> parts;
  llvm::DenseMap<Operation*, AxisParts> deciding;
};

}  // namespace mlir::sgd

#endif
