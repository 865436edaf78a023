// Counting is done by the functions that the runtime counts with.
#include "passes/partition/ranges.h"

#include "passes/partition/sharding_state.h"

using namespace mlir;
using namespace mlir::sgd;

TileRange mlir::sgd::getTileRange(RangeAttr range, int64_t tile, int64_t length) {
  return {.size = static_cast<uint64_t>(range.getSize()),
          .tile = static_cast<uint64_t>(tile),
          .length = static_cast<uint64_t>(length),
          .scale = range.getScale(),
          .offset = range.getOffset(),
          .divisor = static_cast<uint64_t>(range.getDivisor()),
          .step = static_cast<uint64_t>(range.getStep())};
}

RangeLoad mlir::sgd::getRangeLoad(RangeAttr range, ShapedType from, ShapedType to) {
  int64_t dim = range.getDim();
  uint64_t bytes = getElementBytes(from.getElementType());
  for (auto [index, size] : llvm::enumerate(from.getShape()))
    if (static_cast<int64_t>(index) != dim) bytes *= size;
  return {getTileRange(range, from.getDimSize(dim), to.getDimSize(dim)), bytes};
}

uint64_t mlir::sgd::getSentBytes(MeshAttr mesh, RangeAttr range, ShapedType from, ShapedType to,
                                 ArrayRef<AxisPart> tiles, ArrayRef<AxisPart> results) {
  return CostModel::getMostSentBytes(getMeshSizes(mesh), tiles, results, getRangeLoad(range, from, to));
}
