// Sets of axes only grow from one round to the next, so loops settle after a few of them.
#include "passes/manual/differing_axes.h"

#include "dialects/spmd/collective.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::sgd;

AxisIndices DifferingAxes::getManualAxes(ManualComputationOp op, ArrayRef<AxisRefAttr> of) const {
  ArrayRef<AxisRefAttr> all = op.getManualAxes().getAxes();
  auto manual = llvm::filter_to_vector(of, [&](AxisRefAttr axis) {
    return llvm::any_of(all, [&](AxisRefAttr other) { return other.getName() == axis.getName(); });
  });
  return AxisIndices(mesh.find(manual));
}

AxisIndices DifferingAxes::uniteOperands(Operation* op) const {
  AxisIndices united;
  for (Value operand : op->getOperands()) united = unite(united, getAxes(operand));
  return united;
}

void DifferingAxes::visit(ManualComputationOp op, ArrayRef<AxisIndices> inputs) {
  Block& body = op.getBody().front();
  for (auto [argument, input, sharding] : llvm::zip(body.getArguments(), inputs, op.getInShardings())) {
    axes[argument] = input;
    for (DimShardingAttr dim : cast<ShardingAttr>(sharding).getDims())
      axes[argument] = unite(axes[argument], getManualAxes(op, dim.getAxes()));
  }
  visitBlock(body);
  // Parts are put together, or the first rank's is taken.
  AxisIndices own = getManualAxes(op, op.getManualAxes().getAxes());
  for (auto [result, yielded] : llvm::zip(op.getResults(), body.getTerminator()->getOperands()))
    axes[result] = without(getAxes(yielded), own);
}

void DifferingAxes::visitBlock(Block& block) {
  for (Operation& op : block.without_terminator()) visitOp(&op);
}

void DifferingAxes::visitLoop(WhileOp loop) {
  Block& body = loop.getBody().front();
  Block* condition = loop.getCondition().empty() ? nullptr : &loop.getCondition().front();
  SmallVector<AxisIndices> slots;
  for (auto [slot, init] : llvm::enumerate(loop.getInits())) {
    slots.push_back(getAxes(init));
    if (!loop.isInvariant(slot) || !ranks.isKnown(init)) continue;
    ranks.share(init, body.getArgument(slot));
    if (condition) ranks.share(init, condition->getArgument(slot));
  }
  AxisIndices predicate = condition ? deciding : AxisIndices();
  for (bool hasGrown = true; hasGrown;) {
    hasGrown = false;
    auto grow = [&](AxisIndices& set, const AxisIndices& by) {
      AxisIndices larger = unite(set, by);
      hasGrown |= larger != set;
      set = larger;
    };
    if (condition) {
      for (auto [argument, slot] : llvm::zip(condition->getArguments(), slots)) axes[argument] = slot;
      visitBlock(*condition);
      grow(predicate, getAxes(condition->getTerminator()->getOperand(0)));
    }
    for (auto [argument, slot] : llvm::zip(body.getArguments(), slots)) axes[argument] = slot;
    {
      llvm::SaveAndRestore inside(deciding, unite(deciding, predicate));
      visitBlock(body);
    }
    for (auto [index, slot] : llvm::enumerate(slots)) {
      if (loop.isInvariant(index)) continue;
      grow(slot, getAxes(loop.getYielded()[index]));
      grow(slot, predicate);
    }
  }
  predicates[loop] = predicate;
  for (auto [result, slot] : llvm::zip(loop.getResults(), slots)) axes[result] = slot;
}

void DifferingAxes::visitCase(CaseOp branches) {
  AxisIndices index = getAxes(branches.getIndex()), all = index;
  llvm::SaveAndRestore inside(deciding, unite(deciding, index));
  for (OpResult result : branches.getResults()) axes[result] = index;
  for (Region& region : branches.getBranches()) {
    for (auto [argument, input] : llvm::zip(region.getArguments(), branches.getInputs())) {
      axes[argument] = getAxes(input);
      if (ranks.isKnown(input)) ranks.share(input, argument);
    }
    visitBlock(region.front());
    for (auto [result, yielded] : llvm::zip(branches.getResults(), region.front().getTerminator()->getOperands())) {
      axes[result] = unite(getAxes(result), getAxes(yielded));
      all = unite(all, getAxes(yielded));
    }
  }
  // One index chooses for all results.
  if (!index.empty())
    for (Value result : branches.getResults()) axes[result] = all;
}

void DifferingAxes::visitOp(Operation* op) {
  auto setAll = [&](const AxisIndices& to) {
    for (Value result : op->getResults()) axes[result] = to;
  };
  // Of collectives with one result per operand.
  auto setEach = [&](llvm::function_ref<AxisIndices(ArrayRef<unsigned>)> change) {
    for (auto [result, operand] : llvm::zip(op->getResults(), op->getOperands()))
      axes[result] = change(getAxes(operand));
  };
  if (ranks.learn(op)) return setAll(ranks.getAxes(op->getResult(0)));
  auto find = [&](AxisListAttr list) { return AxisIndices(mesh.find(list.getAxes())); };
  llvm::TypeSwitch<Operation*>(op)
      .Case([&](WhileOp loop) { visitLoop(loop); })
      .Case([&](CaseOp branches) { visitCase(branches); })
      .Case([&](ManualComputationOp nested) {
        visit(nested, llvm::map_to_vector(nested.getInputs(), [&](Value input) { return getAxes(input); }));
      })
      .Case([&](spmd::CollectiveOpInterface collective) {
        spmd::CollectiveForm form = collective.getForm();
        if (form.from) return setAll(uniteOperands(op));
        setEach([&](ArrayRef<unsigned> held) {
          AxisIndices left = form.settles ? without(held, find(form.settles)) : AxisIndices(held);
          return form.divides ? unite(left, find(form.divides)) : left;
        });
      })
      .Case([&](PermuteRanksOp permute) {
        setEach([&](ArrayRef<unsigned> held) { return unite(held, find(permute.getAxes())); });
      })
      .Case([&](OptimizationBarrierOp) { setEach([](ArrayRef<unsigned> held) { return AxisIndices(held); }); })
      .Default([&](Operation*) { setAll(uniteOperands(op)); });
}
