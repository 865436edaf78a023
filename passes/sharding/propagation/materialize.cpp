// One walk over the function: assignment per op, reshards of operands before it and of results
// after it.
#include "passes/sharding/propagation/materialize.h"

#include "dialects/sgd/input_attrs.h"
#include "passes/sharding/propagation/annotations.h"
#include "passes/sharding/propagation/constants.h"
#include "passes/sharding/propagation/op_problem.h"
#include "passes/sharding/propagation/partial_values.h"

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
  void rewrite(DataFlowOpInterface op);
  void rewriteIndex(CaseOp branches);
  void rewrite(YieldOp yield);
  void rewriteAny(const RuledOp& ruled);
  void rewriteConstraint(ShardingConstraintOp constraint);
  void rewrite(SummandsOp summands);
  AxisParts getCarriedAxes(Operation* op, const AssignmentProblem& problem, const OpProblem& tensors,
                           const Assignment& assignment) const;
  SmallVector<OpOperand*, 2> getCarriers(Operation* op, ArrayRef<AxisPart> partial) const;
  void rewriteReturn();
  void joinReshards();
  void setOperand(OpOperand& operand, ShardingAttr sharding);
  void setResult(OpResult result, ShardingAttr sharding);
  Value reshard(Value value, ShardingAttr sharding, Location loc);
  ShardingAttr finalSharding(Value value) const;
  ShardingAttr edgeSharding(Value owner) const;
  ShardingAttr evenSharding(RankedTensorType type, ShardingAttr sharding) const;

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

/// The sharding of all tensors of a data-flow edge: partial values are reduced before they get there.
ShardingAttr Materialization::edgeSharding(Value owner) const {
  TensorAxes axes = map[owner].axes;
  axes.unreduced.clear();
  return mesh.toAttr(axes);
}

/// `sharding` without the axes that cut a dimension of `type` into shards of unequal size.
ShardingAttr Materialization::evenSharding(RankedTensorType type, ShardingAttr sharding) const {
  TensorAxes axes = mesh.toTensorAxes(sharding);
  for (auto [dim, size] : llvm::zip_equal(axes.dims, type.getShape()))
    while (size % getGroupSize(dim.axes) != 0) dim.axes.pop_back();
  return mesh.toAttr(axes, sharding.getUnreducedKind());
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

void Materialization::setOperand(OpOperand& operand, ShardingAttr sharding) {
  Value value = operand.get();
  if (sharding.isPartial() && value.hasOneUse() && isNeutralConstant(value, sharding.getUnreducedKind())) {
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
  AxisParts carried = getCarriedAxes(ruled.op, problem, op, assignment);
  SmallVector<OpOperand*, 2> carriers = getCarriers(ruled.op, carried);
  ReduceKind kind = carriers.empty() ? op.getReduceKind() : map[ruled.op->getResult(0)].unreducedKind;
  unsigned index = 0;
  for (OpOperand& operand : ruled.op->getOpOperands()) {
    if (!isTensor(operand.get().getType())) continue;
    TensorAxes axes = assignedAxes(problem, op.getTensor(index++), assignment);
    if (ruled.rule.accumulator == operand.getOperandNumber()) axes.unreduced = unreducedAxes(problem, assignment);
    if (llvm::is_contained(carriers, &operand)) axes.unreduced.append(carried);
    setOperand(operand, mesh.toAttr(axes, kind));
  }
  for (OpResult result : ruled.op->getResults()) {
    if (!isTensor(result.getType())) continue;
    TensorAxes axes = assignedAxes(problem, op.getTensor(index++), assignment);
    if (!carriers.empty()) axes.unreduced.append(carried);
    setResult(result, mesh.toAttr(axes, kind));
  }
}

/// The axes over which the op's result is wanted partial, beside those that it reduces over, and over which no tensor
/// of the op is sharded; else none.
AxisParts Materialization::getCarriedAxes(Operation* op, const AssignmentProblem& problem, const OpProblem& tensors,
                                          const Assignment& assignment) const {
  if (op->getNumResults() != 1 || !isTensor(op->getResult(0).getType())) return {};
  const ShardingMap::Entry& result = map[op->getResult(0)];
  AxisParts reduced = unreducedAxes(problem, assignment), wanted = difference(result.axes.unreduced, reduced);
  if (wanted.empty() || (!reduced.empty() && tensors.getReduceKind() != result.unreducedKind)) return {};
  for (unsigned index = 0; index < problem.tensors.size(); ++index)
    for (const DimAxes& dim : assignedAxes(problem, tensors.getTensor(index), assignment).dims)
      if (overlaps(dim.axes, wanted)) return {};
  return wanted;
}

/// The operands that are partial over exactly these axes, where the op may act on their summands.
SmallVector<OpOperand*, 2> Materialization::getCarriers(Operation* op, ArrayRef<AxisPart> partial) const {
  if (partial.empty()) return {};
  ReduceKind kind = map[op->getResult(0)].unreducedKind;
  return mlir::sgd::getCarriers(op, kind, [&](OpOperand& operand) {
    ShardingAttr sharding = getSharding(operand.get().getType());
    if (!sharding || !sharding.isPartial() || sharding.getUnreducedKind() != kind) return false;
    AxisParts own = mesh.toParts(sharding.getUnreduced());
    return difference(own, partial).empty() && difference(partial, own).empty();
  });
}

/// The leading dimension is over the axes that the operand is partial over, if they cut it evenly.
void Materialization::rewrite(SummandsOp summands) {
  TensorAxes axes = map[summands.getResult()].axes;
  AxisParts& over = axes.dims.front().axes;
  if (cast<RankedTensorType>(summands.getType()).getDimSize(0) % getGroupSize(over) != 0) over.clear();
  axes.unreduced.clear();
  TensorAxes operand;
  operand.dims.append(axes.dims.begin() + 1, axes.dims.end());
  operand.unreduced = over;
  setOperand(summands->getOpOperand(0), mesh.toAttr(operand));
  setResult(summands->getResult(0), mesh.toAttr(axes));
}

static void setSharding(Value value, ShardingAttr sharding) {
  value.setType(withSharding(cast<RankedTensorType>(value.getType()), sharding));
}

/// One sharding per edge: what propagation found for its owner.
void Materialization::rewrite(DataFlowOpInterface op) {
  if (auto branches = dyn_cast<CaseOp>(*op)) rewriteIndex(branches);
  for (const DataFlowEdge& edge : op.getDataFlowEdges()) {
    ShardingAttr sharding = edgeSharding(edge.getOwner());
    for (OpOperand* source : edge.sources)
      if (source->getOwner() == op) setOperand(*source, sharding);
    for (Value target : edge.targets)
      if (isa<BlockArgument>(target)) setSharding(target, sharding);
    if (OpResult result = edge.getResult()) setResult(result, sharding);
  }
}

/// A scalar index is the same on all ranks; one that chooses by coordinate is sharded as the results' leading
/// dimensions.
void Materialization::rewriteIndex(CaseOp branches) {
  TensorAxes index;
  auto indexType = cast<RankedTensorType>(branches.getIndex().getType());
  if (branches->getNumResults() > 0) index.dims = map[branches->getResult(0)].axes.dims;
  index.dims.resize(indexType.getRank());
  setOperand(branches->getOpOperand(0), mesh.toAttr(index));
}

/// A condition yields a scalar, which is on no edge.
void Materialization::rewrite(YieldOp yield) {
  auto parent = cast<DataFlowOpInterface>(yield->getParentOp());
  for (OpOperand& operand : yield->getOpOperands()) {
    std::optional<unsigned> edge = parent.getDataFlowEdgeFrom(operand);
    setOperand(operand, edge ? edgeSharding(parent.getDataFlowEdge(*edge).getOwner()) : mesh.toAttr(TensorAxes()));
  }
}

void Materialization::rewriteAny(const RuledOp& ruled) {
  if (auto constraint = dyn_cast<ShardingConstraintOp>(ruled.op)) return rewriteConstraint(constraint);
  if (auto summands = dyn_cast<SummandsOp>(ruled.op)) return rewrite(summands);
  if (auto yield = dyn_cast<YieldOp>(ruled.op)) return rewrite(yield);
  if (isControlFlow(ruled.op)) return rewrite(cast<DataFlowOpInterface>(ruled.op));
  rewrite(ruled);
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
    // A result that nobody has called unreduced is reduced.
    TensorAxes own = mesh.toTensorAxes(getSharding(operand.get().getType()));
    own.unreduced.clear();
    ShardingAttr sharding = mesh.toAttr(own);
    if (std::optional<unsigned> entry = map.functionResults[index])
      sharding = mesh.toAttr(map.entries[*entry].axes, map.entries[*entry].unreducedKind);
    bool isFree = !function.getResultAttr(index, kShardingAttr);
    if (isFree && next[index]) sharding = getSharding(next[index].getType());
    if (isFree && function->hasAttr(kEvenResultsAttr))
      sharding = evenSharding(cast<RankedTensorType>(operand.get().getType()), sharding);
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
