// From the iter_args of each loop back to the ops that reduce.
#include "passes/sharding/propagation/loop_reductions.h"

#include "passes/sharding/propagation/loop_addends.h"
#include "passes/sharding/propagation/partial_values.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

class LoopReductions {
 public:
  LoopReductions(ArrayRef<RuledOp> ops, ShardingMap& map) : map(map) {
    for (const RuledOp& ruled : ops) rules[ruled.op] = &ruled.rule;
  }

  void visit(WhileOp loop) {
    for (unsigned iterArg = 0; iterArg < loop.getNumResults(); ++iterArg)
      for (OpOperand* addend : getLoopAddends(loop, iterArg, ReduceKind::Add)) visitUse(*addend);
  }

 private:
  /// `use` is only added to an accumulator. Goes up through ops that are linear in one operand to the op that reduces,
  /// once all uses of a value on the way have been visited: gradients of one matmul may be slices of its result.
  void visitUse(OpOperand& use) {
    visited.insert(&use);
    Operation* op = use.get().getDefiningOp();
    if (!op || !llvm::all_of(use.get().getUses(), [&](OpOperand& other) { return visited.contains(&other); })) return;
    if (setPartial(op)) return;
    auto carries = [&](OpOperand& operand) { return carriesPartial(op, operand.getOperandNumber(), ReduceKind::Add); };
    auto operand = llvm::find_if(op->getOpOperands(), carries);
    if (operand != op->getOpOperands().end()) visitUse(*operand);
  }

  /// Whether `op` reduces; then its result becomes partial over the axes that its operands agree on.
  bool setPartial(Operation* op) {
    const ShardingRule* rule = rules.lookup(op);
    if (!rule ||
        llvm::none_of(rule->factors, [](const Factor& factor) { return factor.kind == FactorKind::Reduction; }))
      return false;
    SmallVector<AxisParts> axes(rule->factors.size());
    SmallVector<int64_t> sizes = rule->factorSizes();
    for (auto [operand, mapping] : llvm::zip(op->getOperands(), rule->operands)) {
      TensorFactors projected = project(map[operand].axes, mapping, sizes);
      for (auto [factor, held] : llvm::enumerate(projected.factors)) {
        if (!held.isPresent || held.axes.empty()) continue;
        if (!axes[factor].empty() && axes[factor] != held.axes) return true;
        axes[factor] = held.axes;
      }
    }
    AxisParts partial;
    for (auto [factor, held] : llvm::zip(rule->factors, axes)) {
      if (factor.kind != FactorKind::Reduction) continue;
      if (factor.reduceKind != ReduceKind::Add) return true;
      partial.append(held);
    }
    TensorAxes& result = map[op->getResult(0)].axes;
    if (partial.empty() || !result.unreduced.empty()) return true;
    // Where the sum is sharded over the same axes, as gradients of sharded state are, it is scattered after the loop.
    for (DimAxes& dim : result.dims) dim.axes = prefixWithoutOverlap(dim.axes, partial);
    result.unreduced = partial;
    return true;
  }

  DenseMap<Operation*, const ShardingRule*> rules;
  DenseSet<OpOperand*> visited;
  ShardingMap& map;
};

}  // namespace

void mlir::sgd::keepLoopReductionsPartial(ArrayRef<RuledOp> ops, ShardingMap& map) {
  LoopReductions reductions(ops, map);
  for (const RuledOp& ruled : ops)
    if (auto loop = dyn_cast<WhileOp>(ruled.op)) reductions.visit(loop);
}
