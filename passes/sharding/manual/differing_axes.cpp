// Sets of axes only grow from one round to the next, so loops settle after a few of them.
#include "passes/sharding/manual/differing_axes.h"

#include "dialects/sgd/host_call.h"
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
    // Each rank has a summand of its own of what is unreduced.
    axes[argument] = unite(input, getManualAxes(op, cast<ShardingAttr>(sharding).getUnreduced()));
    for (DimShardingAttr dim : cast<ShardingAttr>(sharding).getDims())
      axes[argument] = unite(axes[argument], getManualAxes(op, dim.getAxes()));
  }
  AxisIndices own = getManualAxes(op, op.getManualAxes().getAxes());
  {
    llvm::SaveAndRestore inside(manual, unite(manual, own));
    visitBlock(body);
  }
  // Parts are put together, or added up, or the first rank's is taken.
  for (auto [result, yielded] : llvm::zip(op.getResults(), body.getTerminator()->getOperands()))
    axes[result] = without(getAxes(yielded), own);
}

void DifferingAxes::visitBlock(Block& block) {
  for (Operation& op : block.without_terminator()) visitOp(&op);
}

void DifferingAxes::shareKnown(ArrayRef<DataFlowEdge> edges) {
  for (const DataFlowEdge& edge : edges) {
    Value source = edge.sources.front()->get();
    if (edge.isChosen() || !ranks.isKnown(source)) continue;
    for (Value target : edge.targets)
      if (isa<BlockArgument>(target)) ranks.share(source, target);
  }
}

bool DifferingAxes::flow(ArrayRef<DataFlowEdge> edges, const AxisIndices& decided) {
  bool hasGrown = false;
  for (const DataFlowEdge& edge : edges) {
    AxisIndices held = edge.isChosen() ? decided : AxisIndices();
    for (OpOperand* source : edge.sources) held = unite(held, getAxes(source->get()));
    for (Value target : edge.targets) {
      AxisIndices larger = unite(getAxes(target), held);
      hasGrown |= larger != getAxes(target) && isa<BlockArgument>(target);
      axes[target] = larger;
    }
  }
  return hasGrown;
}

void DifferingAxes::visitDataFlow(DataFlowOpInterface op) {
  DataFlowForm form = op.getDataFlowForm();
  SmallVector<DataFlowEdge> edges = op.getDataFlowEdges();
  shareKnown(edges);
  // Whether ranks go on with a loop may differ where they differ about coming to it.
  AxisIndices decided = form.carries && form.decider ? deciding : AxisIndices();
  flow(edges, decided);
  do {
    for (Region& region : op->getRegions().take_front(form.firstYielding))
      for (Block& block : region) visitBlock(block);
    if (form.decider) decided = unite(decided, getAxes(form.decider->get()));
    llvm::SaveAndRestore inside(deciding, unite(deciding, decided));
    for (Region& region : op->getRegions().drop_front(form.firstYielding))
      for (Block& block : region) visitBlock(block);
  } while (flow(edges, decided));
  predicates[op] = decided;
  // One index chooses for all results of branches.
  if (form.carries || decided.empty()) return;
  AxisIndices all = decided;
  for (Value result : op->getResults()) all = unite(all, getAxes(result));
  for (Value result : op->getResults()) axes[result] = all;
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
      .Case([&](DataFlowOpInterface flow) { visitDataFlow(flow); })
      // A function may answer each rank differently.
      .Case([&](HostCallOp) { setAll(manual); })
      .Default([&](Operation*) { setAll(uniteOperands(op)); });
}
