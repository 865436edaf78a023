// Sets of parts only grow from one round to the next, and there are finitely many, so loops settle.
#include "passes/spmd/collectives/rank_differences.h"

#include "dialects/sgd/host_call.h"
#include "dialects/sgd/stages.h"
#include "dialects/spmd/collective.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sgd;

/// Adds to `set` the parts that it lacks; true when there are any.
static bool grow(AxisParts& set, ArrayRef<AxisPart> by) {
  AxisParts more = difference(by, set);
  set.append(more.begin(), more.end());
  return !more.empty();
}

static AxisParts unite(AxisParts a, ArrayRef<AxisPart> b) {
  grow(a, b);
  return a;
}

/// A rank receives the value of the rank whose coordinates over `from` are its own over `to`: where operands differ
/// over a sub-axis of `from`, results differ over the corresponding one of `to`.
static AxisParts permuted(const AxisParts& held, ArrayRef<AxisPart> from, ArrayRef<AxisPart> to) {
  AxisParts result = difference(held, from);
  bool isAligned = from.size() == to.size() && llvm::all_of(llvm::zip(from, to), [](auto pair) {
                     return std::get<0>(pair).size == std::get<1>(pair).size;
                   });
  if (!isAligned) return unite(held, to);
  for (auto [source, target] : llvm::zip(from, to))
    if (overlaps(held, {source})) grow(result, {target});
  return result;
}

RankDifferences::Messages RankDifferences::findMessages(ModuleOp module, MeshAttr mesh) {
  Messages messages;
  for (bool hasGrown = true; hasGrown;) {
    hasGrown = false;
    for (auto function : module.getOps<func::FuncOp>())
      if (getStage(function)) hasGrown |= RankDifferences(function, mesh, messages).hasMoreMessages;
  }
  return messages;
}

RankDifferences::RankDifferences(func::FuncOp function, MeshAttr mesh, Messages& messages)
    : mesh(mesh), messages(messages), program(getProgramName(function)) {
  if (!mesh || function.isExternal()) return;
  for (BlockArgument argument : function.getArguments()) {
    auto sharding = function.getArgAttrOfType<ShardingAttr>(argument.getArgNumber(), kShardingAttr);
    if (!sharding) continue;
    for (DimShardingAttr dim : sharding.getDims()) grow(parts[argument], getParts(mesh, dim.getAxes()));
    grow(parts[argument], getParts(mesh, sharding.getUnreduced()));
  }
  for (Block& block : function.getBody()) visitBlock(block);
}

void RankDifferences::visitBlock(Block& block) {
  for (Operation& op : block.without_terminator()) visitOp(op);
}

bool RankDifferences::flow(ArrayRef<DataFlowEdge> edges, const AxisParts& decided) {
  bool hasGrown = false;
  for (const DataFlowEdge& edge : edges) {
    AxisParts held;
    for (OpOperand* source : edge.sources) grow(held, get(source->get()));
    if (edge.isChosen()) grow(held, decided);
    for (Value target : edge.targets) hasGrown |= grow(parts[target], held) && isa<BlockArgument>(target);
  }
  return hasGrown;
}

void RankDifferences::visitDataFlow(DataFlowOpInterface op) {
  SmallVector<DataFlowEdge> edges = op.getDataFlowEdges();
  AxisParts decided;
  flow(edges, decided);
  do {
    for (Region& region : op->getRegions())
      for (Block& block : region) visitBlock(block);
    if (Value decider = op.getDecider()) grow(decided, get(decider));
  } while (flow(edges, decided));
  deciding[op] = decided;
}

AxisParts RankDifferences::uniteAllIn(Operation& op) const {
  AxisParts united;
  op.walk([&](Operation* inner) {
    for (Value operand : inner->getOperands()) grow(united, get(operand));
    if (auto id = dyn_cast<spmd::PartitionIdOp>(inner)) grow(united, getAxes(id.getAxes()));
    if (auto slice = dyn_cast<spmd::ShardSliceOp>(inner)) grow(united, getAxes(slice.getAxes()));
  });
  return united;
}

void RankDifferences::visitOp(Operation& op) {
  // Of collectives with one result per operand.
  auto setEach = [&](llvm::function_ref<AxisParts(const AxisParts&)> change) {
    for (auto [result, operand] : llvm::zip(op.getResults(), op.getOperands())) parts[result] = change(get(operand));
  };
  llvm::TypeSwitch<Operation*>(&op)
      .Case([&](DataFlowOpInterface flow) { visitDataFlow(flow); })
      .Case([&](spmd::CollectiveOpInterface collective) {
        spmd::CollectiveForm form = collective.getForm();
        setEach([&](AxisParts held) {
          if (form.from) return permuted(held, getAxes(form.from), getAxes(form.group));
          if (form.settles) held = difference(held, getAxes(form.settles));
          return form.divides ? unite(held, getAxes(form.divides)) : held;
        });
      })
      // A function may answer each rank differently, and rank 0 alone may call.
      .Case([&](HostCallOp call) {
        AxisParts all;
        for (auto [index, axis] : llvm::enumerate(mesh.getAxes()))
          appendMerged(all, {static_cast<unsigned>(index), 1, axis.getSize()});
        for (Value result : call.getResults()) parts[result] = all;
      })
      .Case([&](spmd::SendOp send) {
        hasMoreMessages |= grow(messages[{program, send.getChannel()}], get(send.getInput()));
      })
      .Case([&](spmd::ReceiveOp receive) { parts[receive.getResult()] = messages[{program, receive.getChannel()}]; })
      .Default([&](Operation*) {
        AxisParts all = uniteAllIn(op);
        for (Value result : op.getResults()) parts[result] = all;
      });
}
