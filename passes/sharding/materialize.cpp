// One walk over the function: assignment per op, reshards of operands before it and of results
// after it.
#include "passes/sharding/materialize.h"

#include "llvm/ADT/TypeSwitch.h"
#include "passes/sharding/annotations.h"
#include "passes/sharding/constants.h"
#include "passes/sharding/op_problem.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
class Materialization {
 public:
  Materialization(func::FuncOp function, ShardingMap& map, const MeshAxes& mesh)
      : function(function), map(map), mesh(mesh), builder(function.getContext()) {}

  void run(ArrayRef<RuledOp> ops);

 private:
  void typeArguments();
  void rewrite(const RuledOp& ruled);
  void rewrite(WhileOp loop);
  void rewrite(CaseOp branches);
  void rewrite(YieldOp yield);
  void rewriteAny(const RuledOp& ruled);
  void rewriteConstraint(ShardingConstraintOp constraint);
  void rewriteReturn();
  void joinReshards();
  void setOperand(OpOperand& operand, ShardingAttr sharding);
  void setResult(OpResult result, ShardingAttr sharding);
  Value reshard(Value value, ShardingAttr sharding, Location loc);
  ShardingAttr finalSharding(Value value) const;
  ShardingAttr slotSharding(Value argument) const;

  func::FuncOp function;
  ShardingMap& map;
  const MeshAxes& mesh;
  OpBuilder builder;
  DenseMap<std::pair<Value, ShardingAttr>, Value> reshards;  // equal reshards of one value are shared
};
}  // namespace

static bool isTensor(Type type) { return isa<RankedTensorType>(type); }

ShardingAttr Materialization::finalSharding(Value value) const {
  const ShardingMap::Entry& entry = map[value];
  return mesh.toAttr(entry.axes, entry.unreducedKind);
}

/// What all values of a slot are typed with: sums are taken before they get there.
ShardingAttr Materialization::slotSharding(Value argument) const {
  TensorAxes axes = map[argument].axes;
  axes.unreduced.clear();
  return mesh.toAttr(axes);
}

/// `attributes` (null for none) with the sharding in it.
static DictionaryAttr withShardingAttr(DictionaryAttr attributes, ShardingAttr sharding) {
  NamedAttrList list(attributes);
  list.set(kShardingAttr, sharding);
  return list.getDictionary(sharding.getContext());
}

void Materialization::typeArguments() {
  SmallVector<DictionaryAttr> attributes;
  function.getAllArgAttrs(attributes);
  for (BlockArgument argument : function.getArguments()) {
    if (!isTensor(argument.getType())) continue;
    ShardingAttr sharding = finalSharding(argument);
    argument.setType(withSharding(cast<RankedTensorType>(argument.getType()), sharding));
    DictionaryAttr& own = attributes[argument.getArgNumber()];
    own = withShardingAttr(own, sharding);
  }
  if (!attributes.empty()) function.setAllArgAttrs(attributes);
}

Value Materialization::reshard(Value value, ShardingAttr sharding, Location loc) {
  if (getSharding(value.getType()) == sharding) return value;
  if (isMadeFreely(value) && value.hasOneUse() && !sharding.isPartial()) {
    retypeFreeValue(value, sharding);
    return value;
  }
  Value& shared = reshards[{value, sharding}];
  if (!shared)
    shared = ReshardOp::create(builder, loc, withSharding(cast<RankedTensorType>(value.getType()), sharding), value);
  return shared;
}

/// True when `value` is a constant that changes nothing when combined by `kind`.
static bool isNeutral(Value value, ReduceKind kind) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  if (!splat) return false;
  OpBuilder builder(value.getContext());
  return splat.getSplatValue<Attribute>() == getNeutralElement(builder, kind, splat.getElementType());
}

void Materialization::setOperand(OpOperand& operand, ShardingAttr sharding) {
  Value value = operand.get();
  if (sharding.isPartial() && value.hasOneUse() && isNeutral(value, sharding.getUnreducedKind())) {
    retypeFreeValue(value, sharding);
    return;
  }
  builder.setInsertionPoint(operand.getOwner());
  operand.set(reshard(value, sharding, operand.getOwner()->getLoc()));
}

/// The op computes `sharding`; everyone else sees the propagated one.
void Materialization::setResult(OpResult result, ShardingAttr sharding) {
  ShardingAttr wanted = finalSharding(result);
  if (isMadeFreely(result)) {
    retypeFreeValue(result, wanted);
    return;
  }
  auto type = cast<RankedTensorType>(result.getType());
  result.setType(withSharding(type, sharding));
  if (sharding == wanted) return;
  builder.setInsertionPointAfter(result.getOwner());
  auto resharded = ReshardOp::create(builder, result.getLoc(), withSharding(type, wanted), result);
  result.replaceAllUsesExcept(resharded, resharded);
  if (!sharding.isPartial()) reshards[{resharded, sharding}] = result;
}

void Materialization::rewrite(const RuledOp& ruled) {
  OpProblem op(ruled, [&](Value value, bool isResult) {
    return isResult ? map[value].axes : mesh.toTensorAxes(getSharding(value.getType()));
  });
  AssignmentProblem problem = op.view();
  Assignment assignment = chooseAssignment(problem);
  unsigned index = 0;
  for (OpOperand& operand : ruled.op->getOpOperands()) {
    if (!isTensor(operand.get().getType())) continue;
    TensorAxes axes = assignedAxes(problem, op.getTensor(index++), assignment);
    if (ruled.rule.accumulator == operand.getOperandNumber()) axes.unreduced = unreducedAxes(problem, assignment);
    setOperand(operand, mesh.toAttr(axes, op.getReduceKind()));
  }
  for (OpResult result : ruled.op->getResults())
    if (isTensor(result.getType()))
      setResult(result, mesh.toAttr(assignedAxes(problem, op.getTensor(index++), assignment), op.getReduceKind()));
}

static void setSharding(Value value, ShardingAttr sharding) {
  value.setType(withSharding(cast<RankedTensorType>(value.getType()), sharding));
}

/// One sharding per slot: what propagation found for the body's argument.
void Materialization::rewrite(WhileOp loop) {
  for (BlockArgument argument : loop.getBody().getArguments()) {
    unsigned slot = argument.getArgNumber();
    ShardingAttr sharding = slotSharding(argument);
    setOperand(loop->getOpOperand(slot), sharding);
    for (Region& region : loop->getRegions())
      if (!region.empty()) setSharding(region.getArgument(slot), sharding);
    setResult(loop->getResult(slot), sharding);
  }
}

/// A scalar index is the same on all ranks; one that chooses by coordinate lies where the results' leading dimensions
/// do.
void Materialization::rewrite(CaseOp branches) {
  TensorAxes index;
  auto indexType = cast<RankedTensorType>(branches.getIndex().getType());
  if (branches->getNumResults() > 0) index.dims = map[branches->getResult(0)].axes.dims;
  index.dims.resize(indexType.getRank());
  setOperand(branches->getOpOperand(0), mesh.toAttr(index));
  for (unsigned input = 0; input < branches.getInputs().size(); ++input) {
    ShardingAttr sharding = slotSharding(branches.getBranches()[0].getArgument(input));
    setOperand(branches->getOpOperand(input + 1), sharding);
    for (Region& region : branches.getBranches()) setSharding(region.getArgument(input), sharding);
  }
  for (OpResult result : branches->getResults()) setResult(result, slotSharding(result));
}

/// A body yields what its arguments are, a branch what the results are, a condition a scalar.
void Materialization::rewrite(YieldOp yield) {
  Operation* parent = yield->getParentOp();
  auto loop = dyn_cast<WhileOp>(parent);
  bool isBody = loop && yield->getParentRegion() == &loop.getBody();
  for (OpOperand& operand : yield->getOpOperands()) {
    unsigned index = operand.getOperandNumber();
    ShardingAttr sharding = isBody ? getSharding(loop.getBody().getArgument(index).getType())
                            : loop ? mesh.toAttr(TensorAxes())
                                   : slotSharding(parent->getResult(index));
    setOperand(operand, sharding);
  }
}

void Materialization::rewriteAny(const RuledOp& ruled) {
  llvm::TypeSwitch<Operation*>(ruled.op)
      .Case([&](ShardingConstraintOp constraint) { rewriteConstraint(constraint); })
      .Case([&](WhileOp loop) { rewrite(loop); })
      .Case([&](CaseOp branches) { rewrite(branches); })
      .Case([&](YieldOp yield) { rewrite(yield); })
      .Default([&](Operation*) { rewrite(ruled); });
}

void Materialization::rewriteConstraint(ShardingConstraintOp constraint) {
  builder.setInsertionPoint(constraint);
  Value value = reshard(constraint.getInput(), finalSharding(constraint.getResult()), constraint.getLoc());
  constraint.getResult().replaceAllUsesWith(value);
  constraint.erase();
}

void Materialization::rewriteReturn() {
  Operation* terminator = function.getBody().front().getTerminator();
  builder.setInsertionPoint(terminator);
  SmallVector<DictionaryAttr> attributes;
  function.getAllResultAttrs(attributes);
  SmallVector<BlockArgument> next = getNextArguments(function);
  for (OpOperand& operand : terminator->getOpOperands()) {
    if (!isTensor(operand.get().getType())) continue;
    unsigned index = operand.getOperandNumber();
    ShardingAttr sharding = getSharding(operand.get().getType());
    if (std::optional<unsigned> entry = map.functionResults[index])
      sharding = mesh.toAttr(map.entries[*entry].axes, map.entries[*entry].unreducedKind);
    if (next[index] && !function.getResultAttr(index, kShardingAttr)) sharding = getSharding(next[index].getType());
    operand.set(reshard(operand.get(), sharding, terminator->getLoc()));
    attributes[index] = withShardingAttr(attributes[index], sharding);
  }
  function.setType(
      FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(), terminator->getOperandTypes()));
  if (!attributes.empty()) function.setAllResultAttrs(attributes);
}

/// A reshard of a reshard that nobody else reads is one reshard: on its way the value need not take
/// the form in between.
void Materialization::joinReshards() {
  SmallVector<ReshardOp> all;
  function.walk([&](ReshardOp reshard) { all.push_back(reshard); });
  llvm::SmallPtrSet<Operation*, 16> gone;
  for (ReshardOp outer : all) {
    if (gone.contains(outer)) continue;
    auto inner = outer.getInput().getDefiningOp<ReshardOp>();
    if (!inner || !inner->hasOneUse()) continue;
    outer.getInputMutable().assign(inner.getInput());
    gone.insert(inner);
    inner.erase();
    if (outer.getInput().getType() != outer.getType()) continue;
    outer.replaceAllUsesWith(outer.getInput());
    outer.erase();
  }
}

void Materialization::run(ArrayRef<RuledOp> ops) {
  typeArguments();
  for (const RuledOp& ruled : ops) rewriteAny(ruled);
  rewriteReturn();
  joinReshards();
}

void mlir::sgd::materializeShardings(func::FuncOp function, ArrayRef<RuledOp> ops, ShardingMap& map,
                                     const MeshAxes& mesh) {
  Materialization(function, map, mesh).run(ops);
}
