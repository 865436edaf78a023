// Lowers reduce and scatter whose bodies combine two values by one op.
#include "frontends/stablehlo/input/region_ops.h"
#include "frontends/stablehlo/op_lowering.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// The kind of the scalar op `name` on elements of `type`, or nullopt.
std::optional<ReduceKind> getKind(StringRef name, Type element) {
  bool isBool = element.isInteger(1), isUnsignedInteger = element.isUnsignedInteger();
  if (name == "stablehlo.add") return isBool ? ReduceKind::Or : ReduceKind::Add;
  if (name == "stablehlo.multiply") return isBool ? ReduceKind::And : ReduceKind::Mul;
  if (name == "stablehlo.maximum")
    return isBool ? ReduceKind::Or : isUnsignedInteger ? ReduceKind::UMax : ReduceKind::Max;
  if (name == "stablehlo.minimum")
    return isBool ? ReduceKind::And : isUnsignedInteger ? ReduceKind::UMin : ReduceKind::Min;
  if (name == "stablehlo.and") return ReduceKind::And;
  if (name == "stablehlo.or") return ReduceKind::Or;
  if (name == "stablehlo.xor") return ReduceKind::Xor;
  return std::nullopt;
}

/// Looks through annotations, which say nothing about scalars.
Value skipConstraints(Value value) {
  while (Operation* op = value.getDefiningOp()) {
    if (op->getName().getStringRef() != "sdy.sharding_constraint") break;
    value = op->getOperand(0);
  }
  return value;
}

/// How a body computes its result `index` from the arguments `index` (old) and `index + count`
/// (new): op(old, new) of a kind.
std::optional<ReduceKind> matchCombiner(Block& body, unsigned index, unsigned count) {
  Operation* op = skipConstraints(body.getTerminator()->getOperand(index)).getDefiningOp();
  if (!op || op->getNumOperands() != 2 || op->getNumResults() != 1 || op->getBlock() != &body) return std::nullopt;
  Value first = skipConstraints(op->getOperand(0)), second = skipConstraints(op->getOperand(1));
  Value oldValue = body.getArgument(index), newValue = body.getArgument(index + count);
  bool combines = (first == oldValue && second == newValue) || (first == newValue && second == oldValue);
  auto type = dyn_cast<RankedTensorType>(oldValue.getType());
  return combines && type ? getKind(op->getName().getStringRef(), type.getElementType()) : std::nullopt;
}

/// True when starting from `init` adds nothing.
bool isNeutral(OpLowering& l, Value init, ReduceKind kind) {
  TypedAttr value = getSplatConstant(init);
  if (!value) return false;
  if (auto number = dyn_cast<FloatAttr>(value); number && kind == ReduceKind::Add) return number.getValue().isZero();
  return value == getNeutralElement(l.builder, kind, value.getType());
}

LogicalResult lowerReduce(OpLowering& l) {
  auto reduce = cast<stablehlo::ReduceOp>(l.op);
  unsigned count = reduce.getInputs().size();
  for (unsigned i = 0; i < count; ++i) {
    std::optional<ReduceKind> kind = matchCombiner(reduce.getBody().front(), i, count);
    // An accumulator of another type than the input converts in the body: the single op cannot be
    // of both types.
    if (!kind || l.getElementType(i) != l.getElementType(i + count))
      return l.error() << "is not supported yet with this body; supported are single ops (add, "
                          "multiply, maximum, minimum, and, or, xor)";
    RankedTensorType type = l.getResultType(i);
    Value input = l.operands[i], init = l.operands[i + count];
    Value result = l.create<ReduceOp>(type, input, *kind, reduce.getDimensions());
    if (!isNeutral(l, init, *kind))
      result = createCombiner(l.builder, l.loc, *kind, result, l.broadcastScalar(init, type));
    l.results.push_back(result);
  }
  return success();
}

std::optional<ScatterKind> matchUpdate(Block& body) {
  if (skipConstraints(body.getTerminator()->getOperand(0)) == body.getArgument(1)) return ScatterKind::Set;
  std::optional<ReduceKind> kind = matchCombiner(body, 0, 1);
  return kind ? symbolizeScatterKind(stringifyReduceKind(*kind)) : std::nullopt;
}

LogicalResult lowerScatter(OpLowering& l) {
  auto scatter = cast<stablehlo::ScatterOp>(l.op);
  if (scatter.getInputs().size() != 1)
    return l.error() << "of several tensors at once is not supported yet; scatter them one by one";
  std::optional<ScatterKind> kind = matchUpdate(scatter.getUpdateComputation().front());
  if (!kind)
    return l.error() << "is not supported yet with this body; supported are replacement and single "
                        "ops (add, multiply, maximum, minimum, and, or, xor)";
  auto dims = scatter.getScatterDimensionNumbers();
  return l.replace<ScatterOp>(l.getResultType(), l.operands[0], l.operands[1], l.operands[2], *kind,
                              dims.getUpdateWindowDims(), dims.getInsertedWindowDims(), dims.getInputBatchingDims(),
                              dims.getScatterIndicesBatchingDims(), dims.getScatterDimsToOperandDims(),
                              dims.getIndexVectorDim(), l.getElementType(1).isUnsignedInteger(),
                              scatter.getUniqueIndices());
}

}  // namespace

void sgd::addReductionLowerings(LoweringTable& table) {
  table["stablehlo.reduce"] = lowerReduce;
  table["stablehlo.scatter"] = lowerScatter;
}
