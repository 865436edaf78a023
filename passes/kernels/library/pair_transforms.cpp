// Patterns on the ops around a transform: real and imaginary parts sliced from pairs and concatenated again.
#include "dialects/sgd/linear_algebra.h"
#include "dialects/sgd/tensor_type.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/kernels/library/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_PAIRTRANSFORMSPASS
#include "passes/kernels/library/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

/// The tensor [.., 2] of which `part` is element `index` of the last dimension; null where there is none.
static Value getPairs(Value part, int64_t index) {
  auto reshape = part.getDefiningOp<ReshapeOp>();
  auto slice = reshape ? reshape.getInput().getDefiningOp<SliceOp>() : SliceOp();
  if (!slice) return nullptr;
  RankedTensorType pairs = tensorType(slice.getInput()), type = tensorType(part);
  int64_t last = pairs.getRank() - 1;
  if (last < 0 || pairs.getShape().back() != 2 || type.getShape() != pairs.getShape().drop_back()) return nullptr;
  for (int64_t dim = 0; dim <= last; ++dim) {
    int64_t start = dim == last ? index : 0, limit = dim == last ? index + 1 : pairs.getDimSize(dim);
    if (slice.getStarts()[dim] != start || slice.getLimits()[dim] != limit || slice.getStrides()[dim] != 1)
      return nullptr;
  }
  return slice.getInput();
}

/// The op that puts `re` and `im`, which nothing else reads, side by side; null where there is none.
static ConcatenateOp getPairing(Value re, Value im) {
  if (!re.hasOneUse() || !im.hasOneUse()) return nullptr;
  auto reshapeRe = dyn_cast<ReshapeOp>(*re.user_begin()), reshapeIm = dyn_cast<ReshapeOp>(*im.user_begin());
  if (!reshapeRe || !reshapeIm || !reshapeRe->hasOneUse() || !reshapeIm->hasOneUse()) return nullptr;
  auto pairing = dyn_cast<ConcatenateOp>(*reshapeRe->user_begin());
  if (!pairing || pairing.getInputs().size() != 2 || pairing.getInputs()[0] != reshapeRe.getResult() ||
      pairing.getInputs()[1] != reshapeIm.getResult())
    return nullptr;
  SmallVector<int64_t> shape(tensorType(re).getShape());
  shape.push_back(2);
  bool isLast = static_cast<int64_t>(pairing.getDimension()) == static_cast<int64_t>(shape.size()) - 1;
  return isLast && tensorType(pairing.getResult()).getShape() == ArrayRef(shape) ? pairing : nullptr;
}

static bool isTransform(LinearAlgebraOp op) {
  return linear_algebra::IsTransform(static_cast<linear_algebra::Kind>(op.getKind()));
}

namespace {

struct PairOperand : OpRewritePattern<LinearAlgebraOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LinearAlgebraOp op, PatternRewriter& rewriter) const final {
    if (!isTransform(op) || op.getInputs().size() != 2) return failure();
    Value pairs = getPairs(op.getInputs()[0], 0);
    if (!pairs || getPairs(op.getInputs()[1], 1) != pairs) return failure();
    uint32_t options = getLinearAlgebraOptions(op) | linear_algebra::kPairedOperand;
    rewriter.replaceOp(op, createLinearAlgebra(rewriter, op.getLoc(), op.getKind(), options, pairs));
    return success();
  }
};

struct PairResult : OpRewritePattern<LinearAlgebraOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LinearAlgebraOp op, PatternRewriter& rewriter) const final {
    if (!isTransform(op) || op.getNumResults() != 2) return failure();
    ConcatenateOp pairing = getPairing(op.getResult(0), op.getResult(1));
    if (!pairing) return failure();
    uint32_t options = getLinearAlgebraOptions(op) | linear_algebra::kPairedResult;
    auto paired = createLinearAlgebra(rewriter, op.getLoc(), op.getKind(), options, op.getInputs());
    SmallVector<Operation*> reshapes = {pairing.getInputs()[0].getDefiningOp(), pairing.getInputs()[1].getDefiningOp()};
    rewriter.replaceOp(pairing, paired.getResult(0));
    for (Operation* reshape : reshapes) rewriter.eraseOp(reshape);
    rewriter.eraseOp(op);
    return success();
  }
};

struct PairTransformsPass : mlir::sgd::impl::PairTransformsPassBase<PairTransformsPass> {
  void runOnOperation() final {
    RewritePatternSet patterns(&getContext());
    patterns.add<PairOperand, PairResult>(&getContext());
    GreedyRewriteConfig config;
    config.enableFolding(false).enableConstantCSE(false);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config))) signalPassFailure();
  }
};

}  // namespace
