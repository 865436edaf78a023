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

void mlir::sgd::addSentBytes(MeshAttr mesh, RangeAttr range, ShapedType from, ShapedType to, ArrayRef<AxisPart> tiles,
                             ArrayRef<AxisPart> results, std::vector<uint64_t>& sent) {
  int64_t dim = range.getDim();
  uint64_t bytes = getElementBytes(from.getElementType());
  for (auto [index, size] : llvm::enumerate(from.getShape()))
    if (static_cast<int64_t>(index) != dim) bytes *= size;
  TileRange tiled = getTileRange(range, from.getDimSize(dim), to.getDimSize(dim));
  CostModel::addSentBytes(getMeshSizes(mesh), tiles, results, tiled, bytes, sent);
}

uint64_t mlir::sgd::getSentBytes(MeshAttr mesh, RangeAttr range, ShapedType from, ShapedType to,
                                 ArrayRef<AxisPart> tiles, ArrayRef<AxisPart> results) {
  std::vector<uint64_t> sent;
  addSentBytes(mesh, range, from, to, tiles, results, sent);
  return *llvm::max_element(sent);
}
