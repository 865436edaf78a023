// Moves the transposes that give convolutions' results channels in front behind the ops that read them, down to the
// next convolution, whose own transpose ends them. In between channels are the last dimension, as convolutions compute
// them: elements of one place follow each other, so that vectors hold channels of one window.
#include "dialects/sgd/splat.h"
#include "dialects/sgd/tensor_type.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/graph/normalize/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_MOVECHANNELSLASTPASS
#include "passes/graph/normalize/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

using Dims = SmallVector<int64_t>;

bool isIdentity(ArrayRef<int64_t> permutation) {
  return llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size()));
}

/// Entry i goes to position order[i].
Dims scatter(ArrayRef<int64_t> entries, ArrayRef<int64_t> order) {
  Dims moved(entries.size());
  for (auto [entry, to] : llvm::zip(entries, order)) moved[to] = entry;
  return moved;
}

/// Whether `op` gives the result of a convolution, features last, its features as dimension 1.
bool putsChannelsFirst(TransposeOp op) {
  ArrayRef<int64_t> order = op.getPermutation();
  auto rank = static_cast<int64_t>(order.size());
  if (rank < 3 || order[0] != 0 || order[1] != rank - 1) return false;
  if (!isIdentity(order.take_front(1)) || !llvm::equal(order.drop_front(2), llvm::seq<int64_t>(1, rank - 1)))
    return false;
  Value source = op.getInput();
  while (auto reshape = source.getDefiningOp<ReshapeOp>()) source = reshape.getInput();
  return source.getDefiningOp<ConvolutionOp>() != nullptr;
}

/// Dimensions that a reshape turns into others: `from` of the operand into `to` of the result.
struct ReshapedDims {
  Dims from, to;
};

/// The smallest such groups, in order. Dimensions of size 1 may be in groups without others.
SmallVector<ReshapedDims> getReshapedDims(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<ReshapedDims> groups;
  int64_t i = 0, j = 0, n = from.size(), m = to.size();
  while (i < n || j < m) {
    ReshapedDims group;
    int64_t sources = 1, results = 1;
    if (i < n) sources = from[i], group.from.push_back(i++);
    if (j < m && (sources != 1 || to[j] == 1 || group.from.empty())) results = to[j], group.to.push_back(j++);
    while (sources != results) {
      if (sources < results)
        sources *= from[i], group.from.push_back(i++);
      else
        results *= to[j], group.to.push_back(j++);
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

/// One block. A moved value is transpose(u, order), and ops that read it are rewritten to read u.
class Mover {
 public:
  explicit Mover(Block& block) : block(block), builder(block.getParentOp()->getContext()) {}

  void run() {
    SmallVector<Operation*> ops;
    for (Operation& op : block.without_terminator()) ops.push_back(&op);
    for (Operation* op : ops) visit(op);
    if (replaced) eraseUnused();
  }

 private:
  void eraseUnused() {
    for (Operation& op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op)) op.erase();
  }

  TransposeOp findMoved(Value value) const {
    auto transpose = value.getDefiningOp<TransposeOp>();
    return transpose && moved.contains(transpose) ? transpose : TransposeOp();
  }

  void visit(Operation* op) {
    auto transpose = dyn_cast<TransposeOp>(op);
    if (transpose && putsChannelsFirst(transpose)) return void(moved.insert(transpose));
    if (llvm::none_of(op->getOperands(), [&](Value operand) { return findMoved(operand) != nullptr; })) return;
    if (op->getNumResults() != 1 || op->getNumRegions() != 0 || hasNoElements(op)) return;
    builder.setInsertionPoint(op);
    if (transpose) return compose(transpose);
    if (auto reshape = dyn_cast<ReshapeOp>(op)) return moveReshape(reshape);
    if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) return moveBroadcast(broadcast);
    if (auto reduce = dyn_cast<ReduceOp>(op)) return moveReduce(reduce);
    if (op->hasTrait<OpTrait::Elementwise>() || isa<SliceOp, PadOp, ConcatenateOp, ReverseOp>(op)) moveSameRank(op);
  }

  static bool hasNoElements(Operation* op) {
    auto isEmpty = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return !tensor || !tensor.hasStaticShape() || tensor.getNumElements() == 0;
    };
    return llvm::any_of(op->getOperandTypes(), isEmpty) || isEmpty(op->getResult(0).getType());
  }

  /// Replaces the result of `op` by transpose(value, order), which is moved on.
  void replace(Operation* op, Value value, ArrayRef<int64_t> order) {
    Value result = value;
    if (!isIdentity(order)) {
      auto back = TransposeOp::create(builder, op->getLoc(), op->getResult(0).getType(), value, order);
      moved.insert(back);
      result = back;
    }
    op->getResult(0).replaceAllUsesWith(result);
    replaced = true;
  }

  /// A copy of `op` that reads `operands`.
  Operation* clone(Operation* op, ValueRange operands, ArrayRef<int64_t> shape) {
    Operation* copy = builder.clone(*op);
    copy->setOperands(operands);
    copy->getResult(0).setType(tensorType(op->getResult(0)).clone(shape));
    return copy;
  }

  /// Transposes of transposes are one, and often none: where channels come last again.
  void compose(TransposeOp op) {
    TransposeOp source = findMoved(op.getInput());
    Dims order = llvm::map_to_vector(op.getPermutation(), [&](int64_t dim) { return source.getPermutation()[dim]; });
    Value result = source.getInput();
    if (!isIdentity(order)) result = TransposeOp::create(builder, op.getLoc(), op.getType(), result, order);
    op.replaceAllUsesWith(result);
    replaced = true;
  }

  /// Splits and merges dimensions that stand together in both orders.
  void moveReshape(ReshapeOp op) {
    TransposeOp source = findMoved(op.getInput());
    ArrayRef<int64_t> order = source.getPermutation(), from = shapeOf(op.getInput()), to = op.getType().getShape();
    SmallVector<ReshapedDims> groups = getReshapedDims(from, to);
    // Where each group begins in the other order; those without elements of their own come last.
    SmallVector<std::pair<int64_t, size_t>> places;
    for (auto [number, group] : llvm::enumerate(groups)) {
      int64_t place = order.size(), next = -1;
      for (int64_t dim : group.from) {
        if (from[dim] == 1) continue;
        if (next >= 0 && !isNextLarge(source.getInput(), next, order[dim])) return;
        if (next < 0) place = order[dim];
        next = order[dim];
      }
      places.push_back({place, number});
    }
    llvm::sort(places);
    Dims shape, back(to.size());
    for (auto [place, number] : places)
      for (int64_t dim : groups[number].to) {
        back[dim] = shape.size();
        shape.push_back(to[dim]);
      }
    replace(op, ReshapeOp::create(builder, op.getLoc(), op.getType().clone(shape), source.getInput()), back);
  }

  /// Whether dimension `next` of `value` follows `dim` when those of size 1 are left out.
  static bool isNextLarge(Value value, int64_t dim, int64_t next) {
    if (next <= dim) return false;
    return llvm::all_of(llvm::seq(dim + 1, next), [&](int64_t between) { return shapeOf(value)[between] == 1; });
  }

  /// New dimensions stand behind the one that they stand behind in the result.
  void moveBroadcast(BroadcastInDimOp op) {
    TransposeOp source = findMoved(op.getInput());
    ArrayRef<int64_t> dims = op.getDims(), to = tensorType(op.getResult()).getShape();
    if (!llvm::is_sorted(dims)) return;
    Dims sorted = scatter(dims, source.getPermutation()), placed;
    auto placeNew = [&](int64_t dim) {
      for (int64_t rank = to.size(); dim < rank && !llvm::is_contained(dims, dim); ++dim) placed.push_back(dim);
    };
    placeNew(0);
    for (int64_t dim : sorted) {
      placed.push_back(dim);
      placeNew(dim + 1);
    }
    Dims back = invertPermutationVector(placed);
    Dims shape = llvm::map_to_vector(placed, [&](int64_t dim) { return to[dim]; });
    Dims moved = llvm::map_to_vector(sorted, [&](int64_t dim) { return back[dim]; });
    replace(op,
            BroadcastInDimOp::create(builder, op.getLoc(), tensorType(op.getResult()).clone(shape), source.getInput(),
                                     moved)
                .getResult(),
            back);
  }

  void moveReduce(ReduceOp op) {
    TransposeOp source = findMoved(op.getInput());
    ArrayRef<int64_t> order = source.getPermutation();
    Dims reduced, kept, shape;
    for (auto [dim, at] : llvm::enumerate(order))
      (llvm::is_contained(op.getDimensions(), static_cast<int64_t>(dim)) ? reduced : kept).push_back(at);
    Dims sorted(kept);
    llvm::sort(sorted);
    llvm::sort(reduced);
    for (int64_t dim : sorted) shape.push_back(shapeOf(source.getInput())[dim]);
    Dims back =
        llvm::map_to_vector(kept, [&](int64_t dim) -> int64_t { return llvm::find(sorted, dim) - sorted.begin(); });
    auto copy = cast<ReduceOp>(clone(op, source.getInput(), shape));
    copy.setDimensions(reduced);
    replace(op, copy.getResult(), back);
  }

  /// Ops whose tensor operands and result have dimensions that correspond.
  void moveSameRank(Operation* op) {
    auto tensors = isa<PadOp>(op) ? op->getOperands().take_front(1) : OperandRange(op->getOperands());
    ArrayRef<int64_t> order;
    int64_t size = 0, rank = tensorType(op->getResult(0)).getRank();
    for (Value operand : tensors) {
      if (tensorType(operand).getRank() != rank) return;
      if (TransposeOp own = findMoved(operand); own && order.empty()) order = own.getPermutation();
    }
    // Of the other operands, none may be larger than what is moved.
    for (Value operand : tensors) {
      TransposeOp own = findMoved(operand);
      int64_t elements = tensorType(operand).getNumElements();
      if (own && own.getPermutation() == order)
        size += elements;
      else if (!isMovedFreely(operand))
        size -= elements;
    }
    if (size < 0) return;
    SmallVector<Value> operands(op->getOperands());
    for (Value& operand : MutableArrayRef<Value>(operands).take_front(tensors.size()))
      operand = moveOperand(operand, order);
    Operation* copy = clone(op, operands, scatter(tensorType(op->getResult(0)).getShape(), order));
    moveAttributes(copy, order);
    replace(op, copy->getResult(0), order);
  }

  static void moveAttributes(Operation* op, ArrayRef<int64_t> order) {
    if (auto slice = dyn_cast<SliceOp>(op)) {
      slice.setStarts(scatter(slice.getStarts(), order));
      slice.setLimits(scatter(slice.getLimits(), order));
      slice.setStrides(scatter(slice.getStrides(), order));
    } else if (auto pad = dyn_cast<PadOp>(op)) {
      pad.setLow(scatter(pad.getLow(), order));
      pad.setHigh(scatter(pad.getHigh(), order));
      pad.setInterior(scatter(pad.getInterior(), order));
    } else if (auto concatenate = dyn_cast<ConcatenateOp>(op)) {
      concatenate.setDimension(order[concatenate.getDimension()]);
    } else if (auto reverse = dyn_cast<ReverseOp>(op)) {
      reverse.setDimensions(llvm::map_to_vector(reverse.getDimensions(), [&](int64_t dim) { return order[dim]; }));
    }
  }

  /// Whether the order of a value's dimensions costs nothing.
  static bool isMovedFreely(Value value) {
    return getSplatElements(value) || isa_and_nonnull<BroadcastInDimOp, IotaOp>(value.getDefiningOp());
  }

  /// Returns u, where `value` is transpose(u, order).
  Value moveOperand(Value value, ArrayRef<int64_t> order) {
    TransposeOp own = findMoved(value);
    if (own && own.getPermutation() == order) return own.getInput();
    RankedTensorType type = tensorType(value), result = type.clone(scatter(type.getShape(), order));
    if (SplatElementsAttr splat = getSplatElements(value))
      return arith::ConstantOp::create(builder, value.getLoc(), result, splat.resizeSplat(result));
    if (auto iota = value.getDefiningOp<IotaOp>())
      return IotaOp::create(builder, value.getLoc(), result, order[iota.getDimension()]);
    if (auto broadcast = value.getDefiningOp<BroadcastInDimOp>()) {
      Dims dims = llvm::map_to_vector(broadcast.getDims(), [&](int64_t dim) { return order[dim]; });
      Value input = broadcast.getInput();
      if (TransposeOp source = findMoved(input)) {
        dims = scatter(dims, source.getPermutation());
        input = source.getInput();
      }
      return BroadcastInDimOp::create(builder, value.getLoc(), result, sortDims(input, dims), dims);
    }
    return TransposeOp::create(builder, value.getLoc(), result, value, invertPermutationVector(order));
  }

  /// Sorts `dims`, one for each dimension of `value`, which is transposed accordingly: reshaped where only dimensions
  /// of size 1 change places.
  Value sortDims(Value value, Dims& dims) {
    if (llvm::is_sorted(dims)) return value;
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, dims.size()));
    llvm::sort(order, [&](int64_t a, int64_t b) { return dims[a] < dims[b]; });
    Dims shape = llvm::map_to_vector(order, [&](int64_t dim) { return shapeOf(value)[dim]; }), large;
    for (int64_t dim : order)
      if (shapeOf(value)[dim] != 1) large.push_back(dim);
    llvm::sort(dims);
    RankedTensorType type = tensorType(value).clone(shape);
    if (llvm::is_sorted(large)) return ReshapeOp::create(builder, value.getLoc(), type, value);
    return TransposeOp::create(builder, value.getLoc(), type, value, order);
  }

  Block& block;
  OpBuilder builder;
  llvm::SmallSetVector<TransposeOp, 16> moved;
  bool replaced = false;
};

struct MoveChannelsLastPass : mlir::sgd::impl::MoveChannelsLastPassBase<MoveChannelsLastPass> {
  void runOnOperation() final {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !llvm::hasSingleElement(function.getBody())) return;
    for (Block* block : getProgramBlocks(function)) Mover(*block).run();
  }
};

}  // namespace
