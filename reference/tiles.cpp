// A tile is its whole tensor but for the dimensions that loops cut, where it has one index.
#include "reference/tiles.h"

#include "dialects/fusion/fusion_dialect.h"
using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::reference;

/// `index` within a tile as an index into the whole tensor.
static Index getWholeIndex(ArrayRef<int64_t> index, ArrayRef<int64_t> cuts, ArrayRef<int64_t> tile) {
  Index whole(index);
  for (auto [dim, position] : llvm::zip(cuts, tile))
    if (dim >= 0) whole[dim] = position;
  return whole;
}

RankTensors reference::readTiles(fusion::TiledOp op, unsigned input, ArrayRef<int64_t> tile, const RankTensors& whole) {
  RankTensors parts;
  for (const Tensor& tensor : whole) {
    Tensor& part = parts.emplace_back(op.getInputTile(input));
    forEachIndex(part.shape(), [&](ArrayRef<int64_t> index, int64_t at) {
      part.copy(at, tensor, flatten(getWholeIndex(index, op.getInputCuts(input), tile), tensor.shape()));
    });
  }
  return parts;
}

void reference::storeTiles(fusion::TileStoreOp store, ArrayRef<int64_t> tile, const RankTensors& values,
                           RankTensors& results) {
  ArrayRef<int64_t> cuts = cast<fusion::TiledOp>(store->getParentOp()).getResultCuts(store.getResult());
  for (auto [value, result] : llvm::zip(values, results)) {
    forEachIndex(value.shape(), [&](ArrayRef<int64_t> index, int64_t at) {
      Index to(index);
      for (auto [position, start] : llvm::zip(to, store.getStarts())) position += start;
      int64_t target = flatten(getWholeIndex(to, cuts, tile), result.shape());
      if (!store.getAdd())
        result.copy(target, value, at);
      else if (result.isFloat())
        result.setFloat(target, result.floats[target] + value.floats[at]);
      else
        result.setInteger(target, result.integers[target] + value.integers[at]);
    });
  }
}
