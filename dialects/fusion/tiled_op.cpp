// Verifiers and shapes of fusion.tiled: tiles fit their operands and results, stores fit their tiles.
#include "dialects/fusion/fusion_dialect.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace mlir::fusion;

static RankedTensorType getTile(Type type, ArrayRef<int64_t> cuts) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  for (int64_t dim : cuts)
    if (dim >= 0) shape[dim] = 1;
  return RankedTensorType::get(shape, tensor.getElementType());
}

ArrayRef<int64_t> TiledOp::getInputCuts(unsigned input) {
  return getCuts().slice(input * getLoops().size(), getLoops().size());
}

ArrayRef<int64_t> TiledOp::getResultCuts(unsigned result) { return getInputCuts(getInputs().size() + result); }

RankedTensorType TiledOp::getInputTile(unsigned input) {
  return getTile(getInputs()[input].getType(), getInputCuts(input));
}

RankedTensorType TiledOp::getResultTile(unsigned result) {
  return getTile(getResult(result).getType(), getResultCuts(result));
}

int64_t TiledOp::getNumTiles() {
  int64_t tiles = 1;
  for (int64_t size : getLoops()) tiles *= size;
  return tiles;
}

/// Each loop cuts a dimension of its size, and no two loops the same one.
static LogicalResult verifyCuts(TiledOp op, const Twine& name, Type type, ArrayRef<int64_t> cuts) {
  auto tensor = cast<RankedTensorType>(type);
  llvm::SmallSet<int64_t, 4> seen;
  for (auto [loop, dim] : llvm::enumerate(cuts)) {
    if (dim == -1) continue;
    if (dim < 0 || dim >= tensor.getRank())
      return op.emitOpError() << "loop " << loop << " cuts dimension " << dim << " of " << name << ", which has rank "
                              << tensor.getRank();
    if (tensor.getDimSize(dim) != op.getLoops()[loop] || !seen.insert(dim).second)
      return op.emitOpError() << "loop " << loop << " of " << op.getLoops()[loop] << " cannot cut dimension " << dim
                              << " of " << name << ": it is cut by another loop or of size " << tensor.getDimSize(dim);
  }
  return success();
}

LogicalResult TiledOp::verify() {
  if (getCuts().size() != getLoops().size() * (getInputs().size() + getNumResults()))
    return emitOpError() << "has " << getCuts().size() << " cuts where each of " << getLoops().size()
                         << " loops needs one for each operand and result";
  if (llvm::any_of(getLoops(), [](int64_t size) { return size < 1; })) return emitOpError("has an empty loop");
  for (auto [index, input] : llvm::enumerate(getInputs()))
    if (failed(verifyCuts(*this, "operand " + Twine(index), input.getType(), getInputCuts(index)))) return failure();
  for (auto [index, result] : llvm::enumerate(getResults())) {
    if (failed(verifyCuts(*this, "result " + Twine(index), result.getType(), getResultCuts(index)))) return failure();
    if (llvm::is_contained(getResultCuts(index), -1))
      return emitOpError() << "result " << index << " is not cut by every loop";
  }
  Block& block = getBody().front();
  if (block.getNumArguments() != getInputs().size()) return emitOpError("needs one block argument per operand");
  for (BlockArgument argument : block.getArguments())
    if (argument.getType() != getInputTile(argument.getArgNumber()))
      return emitOpError() << "block argument " << argument.getArgNumber() << " should have type "
                           << getInputTile(argument.getArgNumber());
  return success();
}

LogicalResult TileStoreOp::verify() {
  auto tiled = cast<TiledOp>((*this)->getParentOp());
  if (getResult() >= tiled.getNumResults()) return emitOpError() << "names the unknown result " << getResult();
  auto value = cast<RankedTensorType>(getValue().getType());
  auto whole = cast<RankedTensorType>(tiled.getResult(getResult()).getType());
  if (value.getRank() != whole.getRank() || static_cast<int64_t>(getStarts().size()) != whole.getRank() ||
      value.getElementType() != whole.getElementType())
    return emitOpError() << "differs from result " << getResult() << " in rank or element type";
  ArrayRef<int64_t> cuts = tiled.getResultCuts(getResult());
  for (int64_t dim = 0; dim < whole.getRank(); ++dim) {
    int64_t size = llvm::is_contained(cuts, dim) ? 1 : whole.getDimSize(dim), start = getStarts()[dim];
    if (start < 0 || start > size || value.getDimSize(dim) > size - start)
      return emitOpError() << "does not fit the tile of result " << getResult() << " along dimension " << dim;
  }
  if (!isa_and_nonnull<MatmulOp, ClusterOp>(getValue().getDefiningOp()))
    return emitOpError("stores what is not the result of a contraction or cluster");
  if (llvm::count_if(getValue().getUsers(), [](Operation* user) { return isa<TileStoreOp>(user); }) != 1)
    return emitOpError("stores a value that is stored twice");
  if (getAdd() && !getValue().getDefiningOp<MatmulOp>())
    return emitOpError("adds what is not the result of a contraction");
  return success();
}
