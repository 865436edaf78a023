// Projects every tensor of an op onto the factors of its sharding rule and compares.
#include "passes/spmd/partition/factor_check.h"

#include "dialects/sgd/sharding_rule.h"
#include "passes/sharding/propagation/mesh_axes.h"
#include "passes/sharding/propagation/partial_values.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// An operand or result of the op.
struct Tensor {
  Value value;
  bool isResult;
  unsigned index;
  const TensorMapping* mapping;

  std::string name() const { return (isResult ? "result " : "operand ") + std::to_string(index); }
};

class FactorCheck {
 public:
  FactorCheck(Operation* op, const MeshAxes& mesh) : op(op), mesh(mesh) {}

  LogicalResult run(const ShardingRule& rule);

 private:
  LogicalResult checkDims(const Tensor& tensor, const TensorFactors& factors, ArrayRef<int64_t> sizes);
  LogicalResult checkFactors(const ShardingRule& rule, const Tensor& tensor, const TensorFactors& factors);
  LogicalResult checkPartial(const ShardingRule& rule);
  LogicalResult checkSummands(SummandsOp summands);
  std::string print(ArrayRef<AxisPart> parts) const;
  int64_t dimOf(const Tensor& tensor, unsigned factor) const;

  Operation* op;
  const MeshAxes& mesh;
  Tiling tiling = Tiling::Nested;
  SmallVector<std::optional<AxisParts>, 4> agreed;  // by factor
};
}  // namespace

std::string FactorCheck::print(ArrayRef<AxisPart> parts) const {
  std::string text;
  for (const AxisPart& part : parts) {
    MeshAxisAttr axis = mesh.getMesh().getAxes()[part.axis];
    text += (text.empty() ? "\"" : ", \"") + axis.getName().str() + "\"";
    if (part.size != axis.getSize()) text += ":(" + std::to_string(part.begin) + ")" + std::to_string(part.size);
  }
  return "{" + text + "}";
}

int64_t FactorCheck::dimOf(const Tensor& tensor, unsigned factor) const {
  for (auto [dim, factors] : llvm::enumerate(*tensor.mapping))
    if (llvm::is_contained(factors, factor)) return dim;
  return -1;
}

/// Dimensions without a factor, and axes that the factors of a dimension cannot hold.
LogicalResult FactorCheck::checkDims(const Tensor& tensor, const TensorFactors& factors, ArrayRef<int64_t> sizes) {
  TensorAxes axes = mesh.toTensorAxes(getSharding(tensor.value.getType()));
  SmallVector<AxisParts> axesPerFactor;
  for (const FactorAxes& factor : factors.factors) axesPerFactor.push_back(factor.axes);
  for (auto [dim, held] : llvm::enumerate(*tensor.mapping)) {
    bool fits = held.empty()
                    ? axes.dims[dim].axes.empty()
                    : factors.factors[held.back()].overflow.empty() &&
                          hasFactorTiles(ArrayRef(*tensor.mapping).slice(dim, 1), sizes, axesPerFactor, tiling);
    if (!fits)
      return op->emitOpError() << "cannot be computed shard by shard: dimension " << dim << " of " << tensor.name()
                               << " is sharded over " << print(axes.dims[dim].axes)
                               << ", which its shape does not allow; reshard it before";
  }
  return success();
}

LogicalResult FactorCheck::checkFactors(const ShardingRule& rule, const Tensor& tensor, const TensorFactors& factors) {
  for (unsigned factor = 0; factor < rule.factors.size(); ++factor) {
    const FactorAxes& held = factors.factors[factor];
    if (!held.isPresent) continue;
    if (!held.axes.empty() && !rule.factors[factor].canBeSharded())
      return op->emitOpError() << "needs dimension " << dimOf(tensor, factor) << " of " << tensor.name()
                               << " whole, but it is sharded over " << print(held.axes) << "; reshard it before";
    if (!agreed[factor]) agreed[factor] = held.axes;
    if (*agreed[factor] != held.axes)
      return op->emitOpError() << "has operands and results that disagree: dimension " << dimOf(tensor, factor)
                               << " of " << tensor.name() << " is sharded over " << print(held.axes)
                               << ", its partners over " << print(*agreed[factor])
                               << "; expected the same axes; run sgd-shard, or put an sgd.reshard before it";
  }
  return success();
}

/// Sharded reductions must show in the results; everything else partial must come from an operand and be carried by a
/// linear op.
LogicalResult FactorCheck::checkPartial(const ShardingRule& rule) {
  AxisParts reduced, carried;
  for (auto [factor, axes] : llvm::zip(rule.factors, agreed))
    if (factor.kind == FactorKind::Reduction && axes) reduced.append(*axes);
  unsigned numPartial = 0;
  bool isLinear = true;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    ShardingAttr sharding = getSharding(operand.getType());
    if (!sharding || !sharding.isPartial() || rule.accumulator == index) continue;
    if (Operation* producer = operand.getDefiningOp(); producer && producer->hasAttr(kFactorAttr)) continue;
    carried = mesh.toParts(sharding.getUnreduced());
    ++numPartial;
    isLinear &= carriesPartial(op, index, sharding.getUnreducedKind()) ||
                getLinearity(op, index, sharding.getUnreducedKind()) == Linearity::Alone;
    if (joinsPartials(op, sharding.getUnreducedKind()) && op->getOperand(0).getType() == op->getOperand(1).getType())
      isLinear = true, numPartial = 1;
  }
  if (isa<OptimizationBarrierOp>(op)) return success();
  if (movesPartialBlock(op) || joinsPartialRows(op)) numPartial = 1, isLinear = true;
  if (numPartial > 1 || !isLinear)
    return op->emitOpError() << "is not linear and has an operand that is partial over " << print(carried)
                             << "; expected reduced operands";
  for (Value result : op->getResults()) {
    ShardingAttr sharding = getSharding(result.getType());
    if (!sharding || isa<arith::ConstantOp>(op)) continue;
    AxisParts partial = mesh.toParts(sharding.getUnreduced());
    AxisParts missing = difference(reduced, partial), surplus = difference(difference(partial, reduced), carried);
    missing.append(difference(carried, partial));
    if (!missing.empty())
      return op->emitOpError() << "has a result that is partial over " << print(missing)
                               << "; expected its sharding to say unreduced=" << print(missing);
    if (!surplus.empty())
      return op->emitOpError() << "has a result whose sharding says that it is partial over " << print(surplus)
                               << ", but none of its operands is; expected partial operands; give the result a "
                                  "sharding without unreduced axes";
  }
  return success();
}

LogicalResult FactorCheck::run(const ShardingRule& rule) {
  agreed.resize(rule.factors.size());
  if (rule.exchangesTiles) tiling = Tiling::Exchanged;
  SmallVector<int64_t> sizes = rule.factorSizes();
  SmallVector<Tensor, 4> tensors;
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    tensors.push_back({operand, false, static_cast<unsigned>(index), &rule.operands[index]});
  for (auto [index, result] : llvm::enumerate(op->getResults()))
    tensors.push_back({result, true, static_cast<unsigned>(index), &rule.results[index]});
  for (const Tensor& tensor : tensors) {
    ShardingAttr sharding = getSharding(tensor.value.getType());
    if (!sharding) continue;
    TensorFactors factors = project(mesh.toTensorAxes(sharding), *tensor.mapping, sizes, tiling);
    if (failed(checkDims(tensor, factors, sizes)) || failed(checkFactors(rule, tensor, factors))) return failure();
  }
  if (auto summands = dyn_cast<SummandsOp>(op)) return checkSummands(summands);
  return checkPartial(rule);
}

LogicalResult FactorCheck::checkSummands(SummandsOp summands) {
  AxisParts over = mesh.toTensorAxes(getSharding(summands.getType())).dims.front().axes;
  ShardingAttr operand = getSharding(summands.getInput().getType());
  AxisParts partial = mesh.toParts(operand.getUnreduced());
  bool isEven = summands.getType().getDimSize(0) % getGroupSize(over) == 0;
  if (isEven && operand.getUnreducedKind() == ReduceKind::Add && difference(over, partial).empty() &&
      difference(partial, over).empty() && !getSharding(summands.getType()).isPartial())
    return success();
  return op->emitOpError() << "has an operand that is partial over " << print(partial) << " and summands over "
                           << print(over)
                           << "; expected the same axes, which cut the summands evenly; reshard the operand";
}

static LogicalResult checkType(Location loc, Type type, FlatSymbolRefAttr meshName, MeshAttr mesh) {
  ShardingAttr sharding = getSharding(type);
  if (!sharding) return emitError(loc) << "type " << type << " has no sharding; run sgd-shard before";
  Type element = cast<RankedTensorType>(type).getElementType();
  if (!element.isIntOrFloat())
    return emitError(loc) << "tensors of " << element
                          << " cannot be partitioned; expected integers or floats; convert them";
  if (sharding.getMesh() != meshName)
    return emitError(loc) << "sharding names mesh " << sharding.getMesh() << ", the module's is " << meshName
                          << "; expected one mesh; name that one";
  OpBuilder builder(type.getContext());
  if (sharding.isPartial() && !getNeutralElement(builder, sharding.getUnreducedKind(), element))
    return emitError(loc) << "reduction '" << stringifyReduceKind(sharding.getUnreducedKind()) << "' is not defined on "
                          << element;
  return sharding.verifyAgainst(mesh, cast<RankedTensorType>(type).getShape(), [&] { return emitError(loc); });
}

static LogicalResult checkBlock(Block& block, FlatSymbolRefAttr meshName, MeshAttr mesh) {
  for (BlockArgument argument : block.getArguments())
    if (failed(checkType(argument.getLoc(), argument.getType(), meshName, mesh))) return failure();
  for (Operation& op : block) {
    if (op.getNumRegions() != 0 && !hasScalarBody(&op) && !isControlFlow(&op))
      return op.emitOpError(
          "has regions and cannot be partitioned; expected sgd.while, sgd.case or an op without regions; expand it "
          "first");
    for (Type type : op.getResultTypes())
      if (failed(checkType(op.getLoc(), type, meshName, mesh))) return failure();
  }
  return success();
}

LogicalResult mlir::sgd::checkShardings(func::FuncOp function, FlatSymbolRefAttr meshName, MeshAttr mesh) {
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitOpError(
        "has several blocks; expected one to be partitioned; use sgd.while and sgd.case for control flow");
  for (Block* block : getProgramBlocks(function))
    if (failed(checkBlock(*block, meshName, mesh))) return failure();
  return success();
}

LogicalResult mlir::sgd::checkFitsRule(Operation* op, FlatSymbolRefAttr meshName, MeshAttr mesh) {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled)
    return op->emitOpError(
        "has no sharding rule and cannot be partitioned; expected an op that docs/reference/operations.md lists as "
        "sharded; express it by these");
  return FactorCheck(op, MeshAxes(meshName, mesh)).run(ruled.getShardingRule());
}
