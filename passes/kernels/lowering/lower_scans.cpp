// The pass sgd-lower-scans: a pattern that lowers cumulative sums and the like to steps over the whole tensor, or to
// the form that becomes a kernel.
#include "dialects/sgd/sgd_dialect.h"
#include "dialects/sgd/tensor_type.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "passes/kernels/lowering/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_LOWERSCANSPASS
#include "passes/kernels/lowering/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Elements of a part of a row at least: a block is some time at work.
constexpr int64_t kLeastElements = 4096;
/// Most elements of a column that one worker scans by itself, unless there are workers enough.
constexpr int64_t kLongColumn = 512, kEnoughColumns = 16384;

class ScanFormer {
 public:
  ScanFormer(CumulativeOp op, int64_t workers, PatternRewriter& rewriter)
      : op(op), workers(workers), b(rewriter), loc(op.getLoc()), kind(op.getKind()), isReverse(op.getReverse()) {}

  void run() {
    auto dim = static_cast<int64_t>(op.getDimension());
    RankedTensorType type = tensorType(op.getInput());
    bool isTrivial = type.getDimSize(dim) <= 1 || type.getNumElements() == 0;
    Value result = isTrivial      ? op.getInput()
                   : workers == 0 ? accumulateByDoubling(op.getInput(), dim)
                                  : formKernels(op.getInput(), dim);
    b.replaceOp(op, result);
  }

 private:
  Value combine(Value earlier, Value later) {
    return createCombiner(b, loc, kind, isReverse ? later : earlier, isReverse ? earlier : later);
  }
  /// More elements, or fewer where negative, before and behind those of `dim`.
  Value pad(Value value, int64_t dim, int64_t low, int64_t high) {
    if (low == 0 && high == 0) return value;
    RankedTensorType type = tensorType(value);
    auto scalar = RankedTensorType::get({}, type.getElementType());
    TypedAttr neutral = getNeutralElement(b, kind, type.getElementType());
    Value filler = arith::ConstantOp::create(b, loc, cast<TypedAttr>(DenseElementsAttr::get(scalar, neutral)));
    SmallVector<int64_t> lows(type.getRank(), 0), highs(type.getRank(), 0), interiors(type.getRank(), 0),
        shape(type.getShape());
    lows[dim] = low, highs[dim] = high, shape[dim] += low + high;
    return PadOp::create(b, loc, type.clone(shape), value, filler, lows, highs, interiors);
  }
  Value slice(Value value, int64_t dim, int64_t begin, int64_t end) {
    RankedTensorType type = tensorType(value);
    SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()), strides(type.getRank(), 1),
        shape(type.getShape());
    starts[dim] = begin, limits[dim] = end, shape[dim] = end - begin;
    return shape[dim] == type.getDimSize(dim)
               ? value
               : SliceOp::create(b, loc, type.clone(shape), value, starts, limits, strides).getResult();
  }
  Value reshape(Value value, ArrayRef<int64_t> shape) {
    RankedTensorType type = tensorType(value);
    return type.getShape() == shape ? value : ReshapeOp::create(b, loc, type.clone(shape), value).getResult();
  }
  Value scan(Value value, int64_t dim) {
    return CumulativeOp::create(b, loc, value.getType(), value, kind, dim, isReverse);
  }
  Value exchange(Value value, int64_t x, int64_t y) {
    RankedTensorType type = tensorType(value);
    auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    SmallVector<int64_t> shape(type.getShape());
    std::swap(permutation[x], permutation[y]);
    std::swap(shape[x], shape[y]);
    return TransposeOp::create(b, loc, type.clone(shape), value, permutation);
  }

  Value accumulateByDoubling(Value value, int64_t dim);
  Value formKernels(Value value, int64_t dim);
  Value scanRows(Value rows);

  CumulativeOp op;
  int64_t workers;
  PatternRewriter& b;
  Location loc;
  ReduceKind kind;
  bool isReverse;
};

/// After step s an element holds the 2^s before it (Hillis and Steele, 1986).
Value ScanFormer::accumulateByDoubling(Value value, int64_t dim) {
  int64_t size = tensorType(value).getDimSize(dim);
  for (int64_t width = 1; width < size; width *= 2) {
    int64_t by = isReverse ? -width : width;
    value = combine(pad(value, dim, by, -by), value);
  }
  return value;
}

/// Columns that are many or short stay columns.
Value ScanFormer::formKernels(Value value, int64_t dim) {
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> shape(type.getShape());
  int64_t rows = 1, columns = 1, size = shape[dim];
  for (auto [number, other] : llvm::enumerate(shape)) {
    if (static_cast<int64_t>(number) < dim) rows *= other;
    if (static_cast<int64_t>(number) > dim) columns *= other;
  }
  if (columns == 1) return reshape(scanRows(reshape(value, {rows, size})), shape);
  value = reshape(value, {rows, size, columns});
  if (size <= kLongColumn || rows * columns >= kEnoughColumns) return reshape(scan(value, 1), shape);
  value = reshape(exchange(value, 1, 2), {rows * columns, size});
  value = reshape(scanRows(value), {rows, columns, size});
  return reshape(exchange(value, 1, 2), shape);
}

/// Of a matrix, along its rows. Few long rows are cut in parts, each scanned by itself; then comes what all parts
/// before it hold.
Value ScanFormer::scanRows(Value value) {
  int64_t rows = tensorType(value).getDimSize(0), size = tensorType(value).getDimSize(1);
  int64_t parts = std::min(workers / rows, size / kLeastElements);
  if (parts <= 1) return scan(value, 1);
  int64_t length = llvm::alignTo(llvm::divideCeil(size, parts), 8);
  parts = llvm::divideCeil(size, length);
  Value cut = reshape(pad(value, 1, 0, parts * length - size), {rows, parts, length});
  Value scanned = scan(cut, 2);
  int64_t last = isReverse ? 0 : length - 1;
  Value totals = scan(reshape(slice(scanned, 2, last, last + 1), {rows, parts}), 1);
  Value before = isReverse ? pad(totals, 1, -1, 1) : pad(totals, 1, 1, -1);
  Value spread = BroadcastInDimOp::create(b, loc, tensorType(scanned), before, ArrayRef<int64_t>{0, 1});
  return slice(reshape(combine(spread, scanned), {rows, parts * length}), 1, 0, size);
}

/// Creates ops of the same kind, which must not be lowered again: each op is visited once.
struct LowerScan : OpRewritePattern<CumulativeOp> {
  LowerScan(MLIRContext* context, int64_t workers) : OpRewritePattern(context), workers(workers) {}

  LogicalResult matchAndRewrite(CumulativeOp op, PatternRewriter& rewriter) const final {
    ScanFormer(op, workers, rewriter).run();
    return success();
  }

  int64_t workers;
};

struct LowerScansPass : mlir::sgd::impl::LowerScansPassBase<LowerScansPass> {
  using LowerScansPassBase::LowerScansPassBase;

  void runOnOperation() final {
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerScan>(&getContext(), workers);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

}  // namespace
