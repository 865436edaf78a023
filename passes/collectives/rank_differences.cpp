// Sets of parts only grow from one round to the next, and there are finitely many, so loops settle.
#include "passes/collectives/rank_differences.h"

#include "dialects/spmd/collective.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sgd;

/// Adds to `set` what it has not; true when that is anything.
static bool grow(AxisParts& set, ArrayRef<AxisPart> by) {
  AxisParts more = difference(by, set);
  set.append(more.begin(), more.end());
  return !more.empty();
}

static AxisParts unite(AxisParts a, ArrayRef<AxisPart> b) {
  grow(a, b);
  return a;
}

/// What a rank has is that of the rank whose digits over `from` are its own over `to`: where operands differ over a
/// digit of `from`, results do over the digit in its place.
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

RankDifferences::RankDifferences(func::FuncOp function, MeshAttr mesh) : mesh(mesh) {
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

void RankDifferences::visitLoop(WhileOp loop) {
  Block& body = loop.getBody().front();
  Block* condition = loop.getCondition().empty() ? nullptr : &loop.getCondition().front();
  SmallVector<AxisParts> slots = llvm::map_to_vector(loop.getInits(), [&](Value init) { return get(init); });
  AxisParts predicate;
  for (bool hasGrown = true; hasGrown;) {
    hasGrown = false;
    if (condition) {
      for (auto [argument, slot] : llvm::zip(condition->getArguments(), slots)) parts[argument] = slot;
      visitBlock(*condition);
      hasGrown |= grow(predicate, get(condition->getTerminator()->getOperand(0)));
    }
    for (auto [argument, slot] : llvm::zip(body.getArguments(), slots)) parts[argument] = slot;
    visitBlock(body);
    for (auto [index, slot] : llvm::enumerate(slots)) {
      if (loop.isInvariant(index)) continue;
      hasGrown |= grow(slot, get(loop.getYielded()[index]));
      hasGrown |= grow(slot, predicate);
    }
  }
  deciding[loop] = predicate;
  for (auto [result, slot] : llvm::zip(loop.getResults(), slots)) parts[result] = slot;
}

void RankDifferences::visitCase(CaseOp branches) {
  AxisParts index = get(branches.getIndex());
  deciding[branches] = index;
  for (Value result : branches.getResults()) parts[result] = index;
  for (Region& region : branches.getBranches()) {
    for (auto [argument, input] : llvm::zip(region.getArguments(), branches.getInputs())) parts[argument] = get(input);
    visitBlock(region.front());
    for (auto [result, yielded] : llvm::zip(branches.getResults(), region.front().getTerminator()->getOperands()))
      parts[result] = unite(get(result), get(yielded));
  }
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
      .Case([&](WhileOp loop) { visitLoop(loop); })
      .Case([&](CaseOp branches) { visitCase(branches); })
      .Case([&](spmd::CollectiveOpInterface collective) {
        spmd::CollectiveForm form = collective.getForm();
        setEach([&](AxisParts held) {
          if (form.from) return permuted(held, getAxes(form.from), getAxes(form.group));
          if (form.settles) held = difference(held, getAxes(form.settles));
          return form.divides ? unite(held, getAxes(form.divides)) : held;
        });
      })
      .Default([&](Operation*) {
        AxisParts all = uniteAllIn(op);
        for (Value result : op.getResults()) parts[result] = all;
      });
}
