// The pass sgd-lower-sorts: patterns that lower sorts to sorts of rows, with the sorted dimension last and with working
// memory, and remove sorts of single elements.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "passes/kernels/lowering/passes.h"

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/sgd/sgd_dialect.h"
#include "dialects/sgd/tensor_type.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_LOWERSORTSPASS
#include "passes/kernels/lowering/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Up to this part of a row, its largest elements are kept in a heap while it is read; for more it is sorted.
constexpr int64_t kMostKeptShare = 4, kAlwaysKept = 128;

/// Exchanges dimension `dim` and the last one.
Value exchangeWithLast(OpBuilder& builder, Location loc, Value value, int64_t dim) {
  RankedTensorType type = tensorType(value);
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  SmallVector<int64_t> shape(type.getShape());
  std::swap(permutation[dim], permutation.back());
  std::swap(shape[dim], shape.back());
  return TransposeOp::create(builder, loc, type.clone(shape), value, permutation);
}

/// Sorts the last dimension of `inputs`; `fillComparator` gives the new op's region its block.
SmallVector<Value> sortRows(OpBuilder& builder, Location loc, ArrayRef<Value> inputs,
                            llvm::function_ref<void(Region&)> fillComparator) {
  SmallVector<Type> types;
  for (int copy = 0; copy < 2; ++copy)
    for (Value input : inputs) types.push_back(input.getType());
  auto rows = fusion::SortRowsOp::create(builder, loc, types, inputs);
  fillComparator(rows.getComparator());
  return llvm::to_vector_of<Value>(rows.getResults().take_front(inputs.size()));
}

/// Moves the comparator of `sort` to `region`.
void takeComparator(PatternRewriter& rewriter, SortOp sort, Region& region) {
  rewriter.inlineRegionBefore(sort.getComparator(), region, region.end());
  auto yield = cast<YieldOp>(region.front().getTerminator());
  PatternRewriter::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(yield);
  rewriter.replaceOpWithNewOp<fusion::YieldOp>(yield, yield.getValues());
}

LogicalResult lowerSort(SortOp sort, PatternRewriter& builder) {
  RankedTensorType type = tensorType(sort.getInputs()[0]);
  auto dim = static_cast<int64_t>(sort.getDimension());
  SmallVector<Value> values(sort.getInputs());
  if (type.getDimSize(dim) > 1 && type.getNumElements() > 0) {
    bool isMoved = dim != type.getRank() - 1;
    if (isMoved)
      for (Value& value : values) value = exchangeWithLast(builder, sort.getLoc(), value, dim);
    values = sortRows(builder, sort.getLoc(), values, [&](Region& region) { takeComparator(builder, sort, region); });
    if (isMoved)
      for (Value& value : values) value = exchangeWithLast(builder, sort.getLoc(), value, dim);
  }
  builder.replaceOp(sort, values);
  return success();
}

/// An integer that is ordered as the float `x` in total order.
Value createTotalOrderKey(OpBuilder& builder, Location loc, Value x) {
  auto type = builder.getIntegerType(x.getType().getIntOrFloatBitWidth());
  auto number = [&](const APInt& value) {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value)).getResult();
  };
  unsigned width = type.getWidth();
  Value bits = arith::BitcastOp::create(builder, loc, type, x);
  Value sign = ShRSIOp::create(builder, loc, bits, number(APInt(width, width - 1)));
  Value flip = arith::AndIOp::create(builder, loc, sign, number(APInt::getSignedMaxValue(width)));
  return arith::XOrIOp::create(builder, loc, bits, flip);
}

/// A comparator of values and positions that puts larger values first; the sort is stable.
void fillDescending(PatternRewriter& builder, Region& region, Location loc, Type element, Type position,
                    bool isUnsigned) {
  PatternRewriter::InsertionGuard guard(builder);
  Block& block = *builder.createBlock(&region, region.end(), {element, element, position, position},
                                      SmallVector<Location>(4, loc));
  Value x = block.getArgument(0), y = block.getArgument(1);
  if (isa<FloatType>(element)) {
    x = createTotalOrderKey(builder, loc, x);
    y = createTotalOrderKey(builder, loc, y);
  }
  auto predicate = isUnsigned ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt;
  Value isFirst = arith::CmpIOp::create(builder, loc, predicate, x, y);
  fusion::YieldOp::create(builder, loc, isFirst);
}

Value takeFirst(OpBuilder& builder, Location loc, Value rows, int64_t k) {
  RankedTensorType type = tensorType(rows);
  SmallVector<int64_t> shape(type.getShape()), starts(type.getRank(), 0), strides(type.getRank(), 1);
  shape.back() = k;
  return SliceOp::create(builder, loc, type.clone(shape), rows, starts, shape, strides);
}

/// A choice of many elements is a sort.
LogicalResult lowerTopK(TopKOp topK, PatternRewriter& builder) {
  Location loc = topK.getLoc();
  RankedTensorType type = tensorType(topK.getInput());
  auto k = static_cast<int64_t>(topK.getK());
  if (k <= std::max(kAlwaysKept, type.getShape().back() / kMostKeptShare) || type.getNumElements() == 0)
    return failure();
  Type position = tensorType(topK.getPositions()).getElementType();
  Value iota = IotaOp::create(builder, loc, type.clone(position), type.getRank() - 1);
  SmallVector<Value> sorted = sortRows(builder, loc, {topK.getInput(), iota}, [&](Region& region) {
    fillDescending(builder, region, loc, type.getElementType(), position, topK.getUnsignedElements());
  });
  Value values = takeFirst(builder, loc, sorted[0], k), positions = takeFirst(builder, loc, sorted[1], k);
  builder.replaceOp(topK, {values, positions});
  return success();
}

struct LowerSortsPass : mlir::sgd::impl::LowerSortsPassBase<LowerSortsPass> {
  void runOnOperation() final {
    RewritePatternSet patterns(&getContext());
    patterns.add(lowerSort);
    patterns.add(lowerTopK);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

}  // namespace
