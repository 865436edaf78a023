// Broadcasts are looked through.
#include "dialects/sgd/splat.h"

#include <cmath>

#include "mlir/IR/Matchers.h"

using namespace mlir;

std::optional<double> mlir::sgd::getSplat(Value value) {
  if (auto broadcast = value.getDefiningOp<BroadcastInDimOp>()) return getSplat(broadcast.getInput());
  DenseElementsAttr constant;
  if (!matchPattern(value, m_Constant(&constant)) || !constant.isSplat() || !isa<FloatType>(constant.getElementType()))
    return std::nullopt;
  APFloat number = constant.getSplatValue<APFloat>();
  bool losesInfo = false;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

bool mlir::sgd::isPositiveZero(Value value) {
  std::optional<double> splat = getSplat(value);
  return splat && *splat == 0 && !std::signbit(*splat);
}
