// getSplat looks through broadcasts.
#include "dialects/sgd/splat.h"

#include <cmath>

#include "mlir/IR/Matchers.h"

using namespace mlir;

SplatElementsAttr mlir::sgd::getSplatElements(Value value) {
  SplatElementsAttr elements;
  return matchPattern(value, m_Constant(&elements)) ? elements : SplatElementsAttr();
}

std::optional<double> mlir::sgd::getSplat(Value value) {
  if (auto broadcast = value.getDefiningOp<BroadcastInDimOp>()) return getSplat(broadcast.getInput());
  SplatElementsAttr constant = getSplatElements(value);
  if (!constant || !isa<FloatType>(constant.getElementType())) return std::nullopt;
  APFloat number = constant.getSplatValue<APFloat>();
  bool losesInfo = false;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

bool mlir::sgd::isPositiveZero(Value value) {
  std::optional<double> splat = getSplat(value);
  return splat && *splat == 0 && !std::signbit(*splat);
}
