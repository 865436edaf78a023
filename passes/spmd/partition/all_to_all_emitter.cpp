// A dimension that receives axes is cut into their shards, which go to the front; behind the exchange they stand for
// the ranks that sent, and each goes to the dimension that its axes have left.
#include "passes/spmd/partition/all_to_all_emitter.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// Dimensions of the tensor, each as the shards of the moves that cut it (or join it), major to minor, and what is
/// left.
struct Layout {
  SmallVector<SmallVector<size_t, 2>, 4> moves;  // by dimension
  SmallVector<int64_t> local;                    // by dimension: elements of a piece

  /// Shards before the rest of each dimension.
  SmallVector<int64_t> getSplitShape(ArrayRef<int64_t> shards) const {
    SmallVector<int64_t> shape;
    for (auto [inside, size] : llvm::zip(moves, local)) {
      for (size_t move : inside) shape.push_back(shards[move]);
      shape.push_back(size);
    }
    return shape;
  }

  /// Position in the split shape of each move, then of each dimension's rest.
  SmallVector<int64_t> getPositions(size_t numMoves) const {
    SmallVector<int64_t> positions(numMoves);
    int64_t at = 0;
    for (const auto& inside : moves) {
      for (size_t move : inside) positions[move] = at++;
      positions.push_back(at++);
    }
    return positions;
  }

  SmallVector<int64_t> getShape(ArrayRef<int64_t> shards) const {
    SmallVector<int64_t> shape(local);
    for (auto [dim, inside] : llvm::enumerate(moves))
      for (size_t move : inside) shape[dim] *= shards[move];
    return shape;
  }
};
}  // namespace

static SmallVector<int64_t> invert(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> inverse(permutation.size());
  for (auto [to, from] : llvm::enumerate(permutation)) inverse[from] = to;
  return inverse;
}

Value mlir::sgd::emitAllToAll(OpBuilder& builder, Location loc, Value value, ArrayRef<ReshardStep::Move> moves,
                              AxisListAttr axes) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t rank = type.getRank(), ranks = 1;
  SmallVector<int64_t> shards;
  Layout cut{SmallVector<SmallVector<size_t, 2>, 4>(rank), SmallVector<int64_t>(type.getShape())}, joined = cut;
  for (auto [index, move] : llvm::enumerate(moves)) {
    shards.push_back(getGroupSize(move.axes));
    ranks *= shards.back();
    cut.moves[move.to].push_back(index);
    cut.local[move.to] /= shards.back();
    joined.moves[move.from].push_back(index);
  }
  joined.local = cut.local;
  auto reshape = [&](ArrayRef<int64_t> shape) { value = ReshapeOp::create(builder, loc, type.clone(shape), value); };
  auto transpose = [&](ArrayRef<int64_t> permutation) {
    ArrayRef<int64_t> from = cast<RankedTensorType>(value.getType()).getShape();
    SmallVector<int64_t> shape = llvm::map_to_vector(permutation, [&](int64_t dim) { return from[dim]; });
    value = TransposeOp::create(builder, loc, type.clone(shape), value, permutation);
  };
  reshape(cut.getSplitShape(shards));
  transpose(cut.getPositions(moves.size()));
  SmallVector<int64_t> sent{ranks, 1}, received{1, ranks};
  llvm::append_range(sent, cut.local);
  llvm::append_range(received, cut.local);
  reshape(sent);
  value = spmd::AllToAllOp::create(builder, loc, type.clone(received), value, /*split=*/0, /*concat=*/1, axes);
  SmallVector<int64_t> apart(shards);
  llvm::append_range(apart, cut.local);
  reshape(apart);
  transpose(invert(joined.getPositions(moves.size())));
  reshape(joined.getShape(shards));
  return value;
}
