#include "dialects/spmd/ranges.h"

#include "dialects/sgd/tensor_layout.h"

using namespace mlir;
using ::sgd::comm::RangeLoad;
using ::sgd::comm::TileRange;

TileRange mlir::spmd::getTileRange(mlir::sgd::RangeAttr range, int64_t tile, int64_t length) {
  return {.size = static_cast<uint64_t>(range.getSize()),
          .tile = static_cast<uint64_t>(tile),
          .length = static_cast<uint64_t>(length),
          .scale = range.getScale(),
          .offset = range.getOffset(),
          .divisor = static_cast<uint64_t>(range.getDivisor()),
          .step = static_cast<uint64_t>(range.getStep())};
}

RangeLoad mlir::spmd::getRangeLoad(mlir::sgd::RangeAttr range, ShapedType from, ShapedType to) {
  int64_t dim = range.getDim();
  uint64_t bytes = mlir::sgd::getElementBytes(from.getElementType());
  for (auto [index, size] : llvm::enumerate(from.getShape()))
    if (static_cast<int64_t>(index) != dim) bytes *= size;
  return {getTileRange(range, from.getDimSize(dim), to.getDimSize(dim)), bytes};
}
