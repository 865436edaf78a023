// The convolution whose dimensions are labelled: sizes by label and their agreement.
#include "dialects/sgd/sgd_dialect.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace mlir::sgd;

Type mlir::sgd::getSumType(Type type) {
  if (type.isF16() || type.isBF16() || isFloat8(type)) return Float32Type::get(type.getContext());
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.getWidth() < 32 ? IntegerType::get(type.getContext(), 32) : type;
}

bool mlir::sgd::isFloat8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

bool mlir::sgd::mayMultiply(Type lhs, Type rhs, Type result) {
  if (isFloat8(lhs)) return isFloat8(rhs) && isa<Float32Type, Float16Type, BFloat16Type>(result);
  return lhs == rhs && (result == lhs || result == getSumType(lhs));
}

bool mlir::sgd::isSumOf(Type sum, Type type) {
  return sum == getSumType(type) || (sum == type && isa<FloatType>(type));
}

static int64_t getSize(ArrayRef<int64_t> labels, Value tensor, int64_t label) {
  for (auto [dim, own] : llvm::enumerate(labels))
    if (own == label) return cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  return 1;
}

int64_t ConvolveOp::getLhsSize(int64_t label) { return getSize(getLhsLabels(), getLhs(), label); }
int64_t ConvolveOp::getRhsSize(int64_t label) { return getSize(getRhsLabels(), getRhs(), label); }
int64_t ConvolveOp::getResultSize(int64_t label) { return getSize(getResultLabels(), getResult(), label); }

LogicalResult ConvolveOp::verify() {
  int64_t spatial = getNumSpatialDims();
  for (ArrayRef<int64_t> list : {getLow(), getLhsDilations(), getRhsDilations()})
    if (static_cast<int64_t>(list.size()) != spatial)
      return emitOpError("lists differ in the number of spatial dimensions");
  auto isPositive = [](int64_t value) { return value >= 1; };
  if (!llvm::all_of(getStrides(), isPositive) || !llvm::all_of(getLhsDilations(), isPositive) ||
      llvm::is_contained(getRhsDilations(), 0))
    return emitOpError("strides and lhs_dilations must be positive, rhs_dilations not zero");
  auto check = [&](StringRef name, ArrayRef<int64_t> labels, Value tensor, int64_t missing) -> LogicalResult {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (static_cast<int64_t>(labels.size()) != type.getRank())
      return emitOpError() << name << " has " << labels.size() << " labels for " << type.getRank() << " dimensions";
    llvm::SmallSet<int64_t, 8> seen;
    for (auto [label, size] : llvm::zip(labels, type.getShape())) {
      if (label < -1 || label >= kSpatial + spatial || label == missing)
        return emitOpError() << name << " has no dimension " << label;
      if (label == -1 && size != 1)
        return emitOpError() << name << " has a dimension of " << size << " without a label";
      if (label != -1 && !seen.insert(label).second)
        return emitOpError() << name << " names label " << label << " twice";
    }
    return success();
  };
  if (failed(check("lhs", getLhsLabels(), getLhs(), kOutput)) ||
      failed(check("rhs", getRhsLabels(), getRhs(), kBatch)) ||
      failed(check("result", getResultLabels(), getResult(), kInput)))
    return failure();
  if (getLhsSize(kBatch) != getResultSize(kBatch)) return emitOpError("lhs and result differ in the batch");
  if (getLhsSize(kGroup) != getResultSize(kGroup) || getLhsSize(kGroup) != getRhsSize(kGroup))
    return emitOpError("operands and result differ in the number of groups");
  if (getLhsSize(kInput) != getRhsSize(kInput)) return emitOpError("operands differ in the number of input features");
  if (getRhsSize(kOutput) != getResultSize(kOutput))
    return emitOpError("rhs and result differ in the number of output features");
  auto elementOf = [](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getElementType(); };
  if (elementOf(getLhs()) != elementOf(getRhs()) || !isSumOf(elementOf(getResult()), elementOf(getLhs())))
    return emitOpError("needs operands of one element type and a result of the type of their sums");
  return success();
}
