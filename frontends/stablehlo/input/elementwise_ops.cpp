// Verifiers of elementwise ops; constraints are those of the StableHLO specification, cited as
// op_Cn.
#include "frontends/stablehlo/input/elementwise_ops.h"

#include "frontends/stablehlo/input/assembly_format.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {

Type elementOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

/// Bits of an element; a complex number has those of both parts.
unsigned bitsOf(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element)) return 2 * complex.getElementType().getIntOrFloatBitWidth();
  return element.getIntOrFloatBitWidth();
}

}  // namespace

LogicalResult BitcastConvertOp::verify() {  // bitcast_convert_C1
  auto from = cast<RankedTensorType>(getOperand().getType()), to = cast<RankedTensorType>(getType());
  unsigned fromBits = bitsOf(from.getElementType()), toBits = bitsOf(to.getElementType());
  SmallVector<int64_t> shape(from.getShape());
  if (fromBits > toBits) {
    shape.push_back(fromBits % toBits ? -1 : fromBits / toBits);
  } else if (fromBits < toBits) {
    if (shape.empty() || shape.back() * int64_t(fromBits) != toBits)
      return emitOpError("cannot join elements of ")
             << from << " to elements of " << to.getElementType()
             << "; expected a last dimension that fills one element; reshape the operand";
    shape.pop_back();
  }
  if (ArrayRef(shape) != to.getShape())
    return emitOpError("has the result ") << to << "; expected the shape [" << shape << "]; correct the result's type";
  return success();
}

LogicalResult CompareOp::verify() {  // compare_C1, compare_C3
  if (getLhs().getType() != getRhs().getType())
    return emitOpError("compares ") << getLhs().getType() << " with " << getRhs().getType()
                                    << "; expected operands of one type; convert one of them";
  Type element = elementOf(getLhs());
  ComparisonType type = getCompareType().value_or(ComparisonType::NOTYPE);
  bool fits = type == ComparisonType::NOTYPE ||
              (isa<IntegerType>(element)
                   ? type == (element.isUnsignedInteger() || element.isInteger(1) ? ComparisonType::UNSIGNED
                                                                                  : ComparisonType::SIGNED)
                   : type == ComparisonType::FLOAT || (isa<FloatType>(element) && type == ComparisonType::TOTALORDER));
  if (!fits)
    return emitOpError("cannot compare elements of type ") << element << " as " << stringifyComparisonType(type)
                                                           << "; expected SIGNED or UNSIGNED for integers, FLOAT or "
                                                              "TOTALORDER for others; correct the comparison's type";
  return success();
}

LogicalResult SelectOp::verify() {  // select_C1, select_C2
  auto pred = cast<RankedTensorType>(getPred().getType()), type = cast<RankedTensorType>(getType());
  if (getOnTrue().getType() != type || getOnFalse().getType() != type)
    return emitOpError("chooses between ") << getOnTrue().getType() << " and " << getOnFalse().getType()
                                           << "; expected the result's type " << type << "; convert the operands";
  if (pred.getRank() != 0 && pred.getShape() != type.getShape())
    return emitOpError("has the predicate ")
           << pred << "; expected a scalar predicate or one of shape [" << type.getShape() << "]; broadcast it";
  return success();
}

LogicalResult ClampOp::verify() {  // clamp_C1 to clamp_C4
  auto type = cast<RankedTensorType>(getType());
  if (getOperand().getType() != type)
    return emitOpError("has the operand ")
           << getOperand().getType() << " and the result " << type << "; expected one type; convert the operand";
  for (Value bound : {getMin(), getMax()}) {
    auto boundType = cast<RankedTensorType>(bound.getType());
    if (boundType.getElementType() != type.getElementType() ||
        (boundType.getRank() != 0 && boundType.getShape() != type.getShape()))
      return emitOpError("has the bound ")
             << boundType << "; expected a scalar or the operand's type " << type << "; broadcast the bound";
  }
  return success();
}

#define GET_OP_CLASSES
#include "frontends/stablehlo/input/elementwise_ops.cpp.inc"

void StablehloDialect::registerElementwiseOps() {
  addOperations<
#define GET_OP_LIST
#include "frontends/stablehlo/input/elementwise_ops.cpp.inc"
      >();
}
