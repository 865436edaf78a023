// sgd.convolution to fusion.convolution on local shapes, with neighbouring transposes and reversals folded into labels
// and dilations, or to sgd.dot_general where no window overlaps another. A sweep in program order: neighbours that
// nothing uses any more are removed when all convolutions are lowered.
#include <numeric>

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/sgd/tensor_type.h"
#include "passes/kernels/library/library_model.h"
#include "passes/kernels/lowering/expand_convolution.h"
#include "passes/kernels/lowering/folded_views.h"
#include "passes/kernels/lowering/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_LOWERCONVOLUTIONSPASS
#include "passes/kernels/lowering/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

using Labels = SmallVector<int64_t>;

Value reshapeTo(OpBuilder& builder, Location loc, Value value, ArrayRef<int64_t> shape) {
  RankedTensorType type = tensorType(value).clone(shape);
  return type == value.getType() ? value : ReshapeOp::create(builder, loc, type, value).getResult();
}

/// An operand as laid out in memory, with the names of its dimensions.
struct LaidOutOperand {
  Value value;
  Labels labels;
};

/// How the kernel is read, one entry per spatial dimension.
struct Window {
  SmallVector<int64_t> low, dilations;
};

/// reshape(reverse(x)) -> reverse(reshape(x)) where the reshape leaves the reversed dimensions alone; null otherwise.
ReverseOp moveReverseDown(OpBuilder& builder, ReshapeOp reshape) {
  auto reverse = reshape.getInput().getDefiningOp<ReverseOp>();
  if (!reverse) return {};
  ArrayRef<int64_t> from = tensorType(reverse).getShape(), to = tensorType(reshape).getShape();
  SmallVector<int64_t> dims;
  for (int64_t dim : reverse.getDimensions()) {
    int64_t before = 1, found = -1, passed = 1;
    for (int64_t size : from.take_front(dim)) before *= size;
    for (auto [target, size] : llvm::enumerate(to)) {
      if (passed == before && size == from[dim]) found = target;
      passed *= size;
    }
    if (found < 0) return {};
    dims.push_back(found);
  }
  auto moved = ReshapeOp::create(builder, reshape.getLoc(), tensorType(reshape), reverse.getInput());
  return ReverseOp::create(builder, reverse.getLoc(), tensorType(reshape), moved, dims);
}

/// The operand behind the transposes, and the reshapes by dimensions of size 1, above it.
LaidOutOperand foldTransposes(LaidOutOperand operand) {
  while (true) {
    if (auto transpose = operand.value.getDefiningOp<TransposeOp>()) {
      Labels above(operand.labels.size());
      for (auto [dim, source] : llvm::enumerate(transpose.getPermutation())) above[source] = operand.labels[dim];
      operand = {transpose.getInput(), above};
      continue;
    }
    auto reshape = operand.value.getDefiningOp<ReshapeOp>();
    if (!reshape ||
        withoutOnes(tensorType(reshape).getShape()) != withoutOnes(tensorType(reshape.getInput()).getShape()))
      return operand;
    Labels large, above;
    for (auto [label, size] : llvm::zip(operand.labels, tensorType(reshape).getShape()))
      if (size != 1) large.push_back(label);
    int64_t next = 0;
    for (int64_t size : tensorType(reshape.getInput()).getShape()) above.push_back(size == 1 ? -1 : large[next++]);
    operand = {reshape.getInput(), above};
  }
}

/// The kernel behind the reversals of spatial dimensions as well: it is then read backwards.
LaidOutOperand foldReversals(OpBuilder& builder, LaidOutOperand kernel, Window& window) {
  while (true) {
    kernel = foldTransposes(kernel);
    auto reverse = kernel.value.getDefiningOp<ReverseOp>();
    if (auto reshape = kernel.value.getDefiningOp<ReshapeOp>()) reverse = moveReverseDown(builder, reshape);
    if (!reverse) return kernel;
    for (int64_t dim : reverse.getDimensions()) {
      int64_t label = kernel.labels[dim], size = tensorType(reverse).getDimSize(dim);
      if (size == 1) continue;
      if (label < fusion::ConvolutionOp::kSpatial) return kernel;
      int64_t spatial = label - fusion::ConvolutionOp::kSpatial;
      window.low[spatial] -= (size - 1) * window.dilations[spatial];
      window.dilations[spatial] = -window.dilations[spatial];
    }
    kernel.value = reverse.getInput();
  }
}

/// More convolutions than this for one with a dilated lhs are not worth the zeros that they leave out.
constexpr int64_t kMaxPhases = 64;

/// Windows that are aligned differently to the elements of the lhs, each kind of which becomes a convolution of its
/// own.
int64_t countPhases(ConvolutionOp op) {
  int64_t phases = 1;
  for (int64_t dim = 0; dim < op.getNumSpatialDims() && phases <= kMaxPhases; ++dim) {
    int64_t dilation = op.getLhsDilations()[dim], windows = op.getType().getDimSize(dim + 1);
    phases *= std::min(dilation / std::gcd(dilation, op.getStrides()[dim]), windows);
  }
  return phases;
}

/// Puts the zeros of the lhs's dilation into memory.
void dilate(OpBuilder& builder, ConvolutionOp op) {
  RankedTensorType type = tensorType(op.getLhs());
  SmallVector<int64_t> none(type.getRank(), 0), interior(none), shape(type.getShape());
  for (int64_t dim = 0; dim < op.getNumSpatialDims(); ++dim) {
    interior[dim + 1] = op.getLhsDilations()[dim] - 1;
    shape[dim + 1] += (shape[dim + 1] - 1) * interior[dim + 1];
  }
  RankedTensorType scalar = RankedTensorType::get({}, type.getElementType());
  Value zero = arith::ConstantOp::create(builder, op.getLoc(), scalar, cast<TypedAttr>(builder.getZeroAttr(scalar)));
  op.getLhsMutable().assign(
      PadOp::create(builder, op.getLoc(), type.clone(shape), op.getLhs(), zero, none, none, interior));
  op.setLhsDilations(SmallVector<int64_t>(op.getNumSpatialDims(), 1));
}

/// The role of a spatial dimension in a matmul without windows.
enum class DotRole { None, Free, Contracted };

DotRole getDotRole(ConvolutionOp op, int64_t dim) {
  if (op.getLow()[dim] != 0 || op.getHigh()[dim] != 0 || op.getLhsDilations()[dim] != 1) return DotRole::None;
  int64_t kernel = tensorType(op.getRhs()).getDimSize(dim), input = tensorType(op.getLhs()).getDimSize(dim + 1);
  if (kernel == 1 && op.getStrides()[dim] == 1) return DotRole::Free;
  return kernel == input && (op.getRhsDilations()[dim] == 1 || kernel == 1) ? DotRole::Contracted : DotRole::None;
}

/// `value`, a float, in a wider type.
Value widen(OpBuilder& builder, Value value, Type element) {
  return arith::ExtFOp::create(builder, value.getLoc(), tensorType(value).clone(element), value);
}

/// A kernel of its own, around `op`, whose result replaces the op's.
Value wrapInCluster(OpBuilder& builder, fusion::ConvolutionOp op) {
  auto cluster = fusion::ClusterOp::create(builder, op.getLoc(), op->getResultTypes(), op->getOperands());
  Block& block = cluster.getBody().emplaceBlock();
  for (Value operand : op->getOperands()) block.addArgument(operand.getType(), op.getLoc());
  op->moveBefore(&block, block.end());
  op->setOperands(block.getArguments());
  OpBuilder inside = OpBuilder::atBlockEnd(&block);
  fusion::YieldOp::create(inside, op.getLoc(), op.getResult());
  return cluster.getResult(0);
}

struct LowerConvolutionsPass : mlir::sgd::impl::LowerConvolutionsPassBase<LowerConvolutionsPass> {
  LowerConvolutionsPass() = default;
  explicit LowerConvolutionsPass(const LibraryModel& libraries) : libraries(&libraries) {}

  LogicalResult initialize(MLIRContext* context) final { return requireLibraries(libraries, *this, context); }

  void runOnOperation() final {
    SmallVector<ConvolutionOp> ops;
    getOperation().walk([&](ConvolutionOp op) { ops.push_back(op); });
    for (ConvolutionOp op : ops)
      if (failed(form(op))) return signalPassFailure();
    if (!ops.empty()) eraseUnused<TransposeOp, ReshapeOp, ReverseOp>(getOperation());
  }

  LogicalResult form(ConvolutionOp op) {
    if (op.getResult().use_empty()) return op.erase(), success();
    OpBuilder builder(op);
    if (op.getType().getElementType().isInteger(1))
      return op.emitOpError("of booleans is not supported; convert the operands to i32 first");
    if (replaceEmpty(builder, op)) return success();
    if (Value expanded = expandConvolution(builder, op)) {
      op.replaceAllUsesWith(expanded);
      op.erase();
      return success();
    }
    if (!libraries->readsDilated() && countPhases(op) > kMaxPhases) dilate(builder, op);
    auto dims = llvm::seq<int64_t>(0, op.getNumSpatialDims());
    bool isDot = llvm::none_of(dims, [&](int64_t dim) { return getDotRole(op, dim) == DotRole::None; });
    isDot ? lowerToDotGeneral(builder, op) : lowerToConvolution(builder, op);
    return success();
  }

  /// An empty sum is zero, and an empty result needs no convolution.
  bool replaceEmpty(OpBuilder& builder, ConvolutionOp op) {
    RankedTensorType type = op.getType();
    if (type.getNumElements() != 0 && tensorType(op.getLhs()).getNumElements() != 0 &&
        tensorType(op.getRhs()).getNumElements() != 0)
      return false;
    auto zero = DenseElementsAttr::get(type, builder.getZeroAttr(type.getElementType()));
    op.replaceAllUsesWith(arith::ConstantOp::create(builder, op.getLoc(), type, zero).getResult());
    op.erase();
    return true;
  }

  /// With one group: [N, s.., C] x [k.., C, O] -> [N, s.., O]; with more, those are a batching dimension.
  void lowerToDotGeneral(OpBuilder& builder, ConvolutionOp op) {
    Location loc = op.getLoc();
    ArrayRef<int64_t> lhsShape = tensorType(op.getLhs()).getShape(), rhsShape = tensorType(op.getRhs()).getShape();
    int64_t spatial = op.getNumSpatialDims(), groups = rhsShape[spatial];
    bool hasGroups = groups != 1;
    SmallVector<int64_t> lhs = {lhsShape[0]}, rhs, lhsContracting, rhsContracting, result = {lhsShape[0]};
    for (int64_t dim = 0; dim < spatial; ++dim) {
      if (getDotRole(op, dim) == DotRole::Contracted) {
        lhsContracting.push_back(lhs.size());
        rhsContracting.push_back(rhs.size());
        rhs.push_back(rhsShape[dim]);
      } else {
        result.push_back(lhsShape[dim + 1]);
      }
      lhs.push_back(lhsShape[dim + 1]);
    }
    SmallVector<int64_t> lhsBatching, rhsBatching;
    if (hasGroups) {
      lhsBatching.push_back(lhs.size());
      rhsBatching.push_back(rhs.size());
      lhs.push_back(groups);
      rhs.push_back(groups);
      result.insert(result.begin(), groups);
    }
    lhsContracting.push_back(lhs.size());
    rhsContracting.push_back(rhs.size());
    lhs.push_back(lhsShape.back());
    rhs.append({rhsShape[spatial + 1], rhsShape.back()});
    result.push_back(rhsShape.back());
    Value dot =
        DotGeneralOp::create(builder, loc, op.getType().clone(result), reshapeTo(builder, loc, op.getLhs(), lhs),
                             reshapeTo(builder, loc, op.getRhs(), rhs), lhsBatching, rhsBatching, lhsContracting,
                             rhsContracting, op.getTf32());
    if (hasGroups) {
      // Groups stand before the last dimension in the convolution.
      int64_t rank = result.size();
      auto order = llvm::to_vector(llvm::seq<int64_t>(1, rank - 1));
      order.append({0, rank - 1});
      auto shape = llvm::map_to_vector(order, [&](int64_t dim) { return result[dim]; });
      dot = TransposeOp::create(builder, loc, op.getType().clone(shape), dot, order);
    }
    replaceWithReshape(builder, op, dot);
  }

  /// Replaces `op` by reshape(value); transposes of it move before the reshape, which only adds dimensions
  /// of size 1.
  void replaceWithReshape(OpBuilder& builder, ConvolutionOp op, Value value) {
    SmallVector<int64_t> large(op.getType().getRank(), -1);
    int64_t next = 0, rank = tensorType(value).getRank();
    for (auto [dim, size] : llvm::enumerate(op.getType().getShape())) {
      while (next < rank && tensorType(value).getDimSize(next) == 1) ++next;
      if (size != 1) large[dim] = next++;
    }
    for (Operation* user : llvm::make_early_inc_range(op->getUsers())) {
      auto transpose = dyn_cast<TransposeOp>(user);
      if (!transpose) continue;
      SmallVector<int64_t> order, shape;
      for (int64_t dim : transpose.getPermutation())
        if (large[dim] >= 0) order.push_back(large[dim]);
      for (int64_t dim = 0; dim < rank; ++dim)
        if (!llvm::is_contained(order, dim)) order.push_back(dim);
      for (int64_t dim : order) shape.push_back(tensorType(value).getDimSize(dim));
      bool isIdentity = llvm::equal(order, llvm::seq<int64_t>(0, rank));
      Value moved =
          isIdentity
              ? value
              : TransposeOp::create(builder, transpose.getLoc(), op.getType().clone(shape), value, order).getResult();
      transpose.replaceAllUsesWith(reshapeTo(builder, transpose.getLoc(), moved, transpose.getType().getShape()));
      transpose.erase();
    }
    op.replaceAllUsesWith(reshapeTo(builder, op.getLoc(), value, op.getType().getShape()));
    op.erase();
  }

  /// The last transpose behind `op` that its result's layout makes up for; reorders `labels` accordingly. Null if there
  /// is none. Features that come before all else stay last, and a transpose of them stays behind: written one by one,
  /// each would go to a line of cache of its own.
  static TransposeOp foldResult(OpBuilder& builder, ConvolutionOp op, Labels& labels) {
    TransposeOp last;
    for (Operation* end = op; end->hasOneUse(); end = last) {
      auto transpose = dyn_cast<TransposeOp>(*end->user_begin());
      if (!transpose) break;
      labels = llvm::map_to_vector(transpose.getPermutation(), [&](int64_t dim) { return labels[dim]; });
      last = transpose;
    }
    auto shape = [&] { return last.getType().getShape(); };
    int64_t front = 0;
    while (last && front < static_cast<int64_t>(labels.size()) && shape()[front] == 1) ++front;
    if (!last || front == static_cast<int64_t>(labels.size()) || labels[front] != fusion::ConvolutionOp::kOutput)
      return last;
    // before: features last; behind: as they are.
    auto before = llvm::to_vector(llvm::seq<int64_t>(0, labels.size())), behind = before;
    std::rotate(before.begin() + front, before.begin() + front + 1, before.end());
    for (auto [to, from] : llvm::enumerate(before)) behind[from] = to;
    auto moved = llvm::map_to_vector(before, [&](int64_t dim) { return shape()[dim]; });
    builder.setInsertionPointAfter(last);
    auto inner =
        TransposeOp::create(builder, op.getLoc(), last.getType().clone(moved), last.getInput(),
                            llvm::map_to_vector(before, [&](int64_t dim) { return last.getPermutation()[dim]; }));
    auto outer = TransposeOp::create(builder, last.getLoc(), last.getType(), inner, behind);
    last.replaceAllUsesWith(outer.getResult());
    last.erase();
    labels = llvm::map_to_vector(before, [&](int64_t dim) { return labels[dim]; });
    builder.setInsertionPoint(op);
    return inner;
  }

  void lowerToConvolution(OpBuilder& builder, ConvolutionOp op) {
    int64_t spatial = op.getNumSpatialDims();
    Labels space =
        llvm::to_vector(llvm::seq<int64_t>(fusion::ConvolutionOp::kSpatial, fusion::ConvolutionOp::kSpatial + spatial));
    auto around = [&](ArrayRef<int64_t> first, ArrayRef<int64_t> last) {
      Labels labels(first);
      llvm::append_range(labels, space);
      llvm::append_range(labels, last);
      return labels;
    };
    Window window{SmallVector<int64_t>(op.getLow()), SmallVector<int64_t>(op.getRhsDilations())};
    LaidOutOperand lhs =
        foldTransposes({op.getLhs(), around({fusion::ConvolutionOp::kBatch},
                                            {fusion::ConvolutionOp::kGroup, fusion::ConvolutionOp::kInput})});
    LaidOutOperand rhs = foldReversals(
        builder,
        {op.getRhs(),
         around({}, {fusion::ConvolutionOp::kGroup, fusion::ConvolutionOp::kInput, fusion::ConvolutionOp::kOutput})},
        window);
    Labels labels =
        around({fusion::ConvolutionOp::kBatch}, {fusion::ConvolutionOp::kGroup, fusion::ConvolutionOp::kOutput});
    TransposeOp transpose = foldResult(builder, op, labels);
    RankedTensorType type = transpose ? transpose.getType() : op.getType();
    Type element = tensorType(lhs.value).getElementType();
    auto create = [&](RankedTensorType sums, Value left, Value right, bool tf32) {
      return fusion::ConvolutionOp::create(builder, op.getLoc(), sums, left, right, lhs.labels, rhs.labels, labels,
                                           op.getStrides(), window.low, op.getLhsDilations(), window.dilations, tf32);
    };
    CallTypes types = libraries->getConvolutionTypes(element, type.getElementType());
    bool widens = types.operand != element;
    Value left = widens ? widen(builder, lhs.value, types.operand) : lhs.value,
          right = widens ? widen(builder, rhs.value, types.operand) : rhs.value;
    auto convolution = create(type.clone(types.result), left, right, widens || op.getTf32());
    Value result = convolution;
    if (!libraries->takes(getConvolutionCall(convolution))) {
      RankedTensorType sums = type.clone(getAccumulatorType(type.getElementType()));
      convolution.erase();
      for (Value unused : {left, right})
        if (widens) unused.getDefiningOp()->erase();
      result = wrapInCluster(builder, create(sums, lhs.value, rhs.value, op.getTf32()));
    }
    if (result.getType() != type)
      result = isa<FloatType>(type.getElementType())
                   ? arith::TruncFOp::create(builder, op.getLoc(), type, result).getResult()
                   : arith::TruncIOp::create(builder, op.getLoc(), type, result).getResult();
    (transpose ? transpose.getResult() : op.getResult()).replaceAllUsesWith(result);
    for (Operation* unused = transpose; unused && unused != op;) {
      Operation* producer = unused->getOperand(0).getDefiningOp();
      unused->erase();
      unused = producer;
    }
    op.erase();
  }

  const LibraryModel* libraries = nullptr;
};

}  // namespace

std::unique_ptr<Pass> mlir::sgd::createLowerConvolutionsPass(const LibraryModel& libraries) {
  return std::make_unique<LowerConvolutionsPass>(libraries);
}
