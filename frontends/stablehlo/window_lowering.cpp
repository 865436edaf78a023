// Lowers reductions over windows, and their gradients, to slices that are combined element by element: one slice for
// each position in a window, dimension by dimension.
#include "frontends/stablehlo/combiner.h"
#include "frontends/stablehlo/input/elementwise_ops.h"
#include "frontends/stablehlo/input/region_ops.h"
#include "frontends/stablehlo/op_lowering.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// A window's attributes, one entry per dimension; absent ones are filled in.
struct Window {
  SmallVector<int64_t> sizes, strides, baseDilations, dilations, low, high;

  Window(ArrayRef<int64_t> sizes, std::optional<ArrayRef<int64_t>> strides,
         std::optional<ArrayRef<int64_t>> baseDilations, std::optional<ArrayRef<int64_t>> dilations,
         std::optional<DenseIntElementsAttr> padding, int64_t rank)
      : sizes(sizes), low(rank, 0), high(rank, 0) {
    auto orOnes = [&](std::optional<ArrayRef<int64_t>> list) {
      return list ? llvm::to_vector(*list) : SmallVector<int64_t>(rank, 1);
    };
    this->strides = orOnes(strides);
    this->baseDilations = orOnes(baseDilations);
    this->dilations = orOnes(dilations);
    if (!padding) return;
    for (auto [i, amount] : llvm::enumerate(padding->getValues<int64_t>())) (i % 2 ? high : low)[i / 2] = amount;
  }
  bool isConsistent(int64_t rank) const {
    return llvm::all_of(
        std::initializer_list<const SmallVector<int64_t>*>{&sizes, &strides, &baseDilations, &dilations},
        [&](auto* list) {
          return static_cast<int64_t>(list->size()) == rank && llvm::all_of(*list, [](int64_t v) { return v > 0; });
        });
  }
};

/// The operand with its padding and base dilation made explicit.
Value padOperand(OpLowering& l, Value operand, Value padding, const Window& window) {
  RankedTensorType type = typeOf(operand);
  SmallVector<int64_t> shape, interior;
  bool changes = false;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    interior.push_back(window.baseDilations[dim] - 1);
    int64_t size = type.getDimSize(dim);
    shape.push_back(window.low[dim] + size + std::max<int64_t>(size - 1, 0) * interior[dim] + window.high[dim]);
    changes |= shape[dim] != size || window.low[dim] != 0;
  }
  if (!changes) return operand;
  return l.create<PadOp>(type.clone(shape), operand, padding, window.low, window.high, interior);
}

/// Windows longer than this are combined by doubling: 1, 2, 4, ... neighbours at a time.
constexpr int64_t kLongWindow = 8;

/// Each element combined with the `size - 1` ones that follow it at distances of `dilation` along `dim`.
Value combineNeighbours(OpLowering& l, Value value, int64_t dim, int64_t size, int64_t dilation, ReduceKind kind) {
  int64_t length = typeOf(value).getDimSize(dim);
  auto shifted = [&](Value from, int64_t by, int64_t count) { return l.takeEvery(from, dim, by * dilation, 1, count); };
  if (size <= kLongWindow) {
    int64_t count = length - (size - 1) * dilation;
    Value result = shifted(value, 0, count);
    for (int64_t i = 1; i < size; ++i)
      result = createCombiner(l.builder, l.loc, kind, result, shifted(value, i, count));
    return result;
  }
  // The window is a sum of powers of two, the parts one after another.
  Value result;
  int64_t covered = 0;
  Value power = value;
  for (int64_t width = 1; width <= size; width *= 2) {
    if (size & width) {
      int64_t count = length - (covered + width - 1) * dilation;
      Value part = l.takeEvery(power, dim, covered * dilation, 1, count);
      result = result ? createCombiner(l.builder, l.loc, kind, l.takeEvery(result, dim, 0, 1, count), part) : part;
      covered += width;
    }
    if (width * 2 > size) break;
    int64_t count = typeOf(power).getDimSize(dim) - width * dilation;
    power = createCombiner(l.builder, l.loc, kind, l.takeEvery(power, dim, 0, 1, count),
                           l.takeEvery(power, dim, width * dilation, 1, count));
  }
  return result;
}

/// All windows of `padded`, combined by `kind`, into `shape`.
Value combineWindows(OpLowering& l, Value padded, const Window& window, ArrayRef<int64_t> shape, ReduceKind kind) {
  for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim) {
    bool isWhole = window.sizes[dim] == 1 && typeOf(padded).getDimSize(dim) == shape[dim];
    if (isWhole) continue;
    int64_t size = window.sizes[dim], dilation = window.dilations[dim];
    if (size <= kLongWindow && window.strides[dim] > 1) {
      // Only the elements that are kept are computed.
      Value result;
      for (int64_t i = 0; i < size; ++i) {
        Value part = l.takeEvery(padded, dim, i * dilation, window.strides[dim], shape[dim]);
        result = result ? createCombiner(l.builder, l.loc, kind, result, part) : part;
      }
      padded = result;
      continue;
    }
    if (size > 1) padded = combineNeighbours(l, padded, dim, size, dilation, kind);
    padded = l.takeEvery(padded, dim, 0, window.strides[dim], shape[dim]);
  }
  return padded;
}

LogicalResult lowerReduceWindow(OpLowering& l) {
  auto op = cast<stablehlo::ReduceWindowOp>(l.op);
  unsigned count = op.getInputs().size();
  for (unsigned i = 0; i < count; ++i) {
    std::optional<ReduceKind> kind = matchCombiner(op.getBody().front(), i, count);
    if (!kind || l.getElementType(i) != l.getElementType(i + count))
      return l.error()
             << "is not supported yet with this body; supported are single ops (add, multiply, maximum, minimum, "
                "and, or, xor)";
    Value input = l.operands[i], init = l.operands[i + count];
    Window window(op.getWindowDimensions(), op.getWindowStrides(), op.getBaseDilations(), op.getWindowDilations(),
                  op.getPadding(), typeOf(input).getRank());
    if (!window.isConsistent(typeOf(input).getRank()))
      return l.error() << "has a window of another rank than its operand";
    RankedTensorType type = l.getResultType(i);
    if (type.getNumElements() == 0) {
      l.results.push_back(l.broadcastScalar(init, type));
      continue;
    }
    Value result = combineWindows(l, padOperand(l, input, init, window), window, type.getShape(), *kind);
    if (!isNeutral(l, init, *kind))
      result = createCombiner(l.builder, l.loc, *kind, result, l.broadcastScalar(init, type));
    l.results.push_back(result);
  }
  return success();
}

/// Max for a body that keeps the greater of two values, min for the lesser; nullopt for any other.
std::optional<ReduceKind> matchSelect(Block& body) {
  auto test = skipConstraints(body.getTerminator()->getOperand(0)).getDefiningOp<stablehlo::CompareOp>();
  if (!test || skipConstraints(test.getLhs()) != body.getArgument(0) ||
      skipConstraints(test.getRhs()) != body.getArgument(1))
    return std::nullopt;
  if (!isa<FloatType>(cast<RankedTensorType>(test.getLhs().getType()).getElementType())) return std::nullopt;
  if (test.getComparisonDirection() == stablehlo::ComparisonDirection::GE) return ReduceKind::Max;
  if (test.getComparisonDirection() == stablehlo::ComparisonDirection::LE) return ReduceKind::Min;
  return std::nullopt;
}

/// Calls visit(offsets) for every position in a window, row-major: the order in which the first of equal values wins.
void forEachPosition(ArrayRef<int64_t> sizes, llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t> offsets(sizes.size(), 0);
  while (true) {
    visit(offsets);
    int64_t dim = static_cast<int64_t>(sizes.size()) - 1;
    while (dim >= 0 && ++offsets[dim] == sizes[dim]) offsets[dim--] = 0;
    if (dim < 0) return;
  }
}

/// The gradient of a maximum over windows: each window's source value goes to the first of its elements that is the
/// maximum.
LogicalResult lowerSelectAndScatter(OpLowering& l) {
  auto op = cast<stablehlo::SelectAndScatterOp>(l.op);
  std::optional<ReduceKind> select = matchSelect(op.getSelect().front());
  std::optional<ReduceKind> scatter = matchCombiner(op.getScatter().front(), 0, 1);
  Value operand = l.operands[0], source = l.operands[1], init = l.operands[2];
  RankedTensorType type = l.getResultType(), windows = typeOf(source);
  if (!select || scatter != ReduceKind::Add || !isNeutral(l, init, ReduceKind::Add))
    return l.error() << "is supported only with a select by GE or LE of floats and a scatter that adds to 0";
  if (!op.getWindowDimensions()) return l.error() << "needs window_dimensions";
  Window window(*op.getWindowDimensions(), op.getWindowStrides(), std::nullopt, std::nullopt, op.getPadding(),
                type.getRank());
  if (!window.isConsistent(type.getRank())) return l.error() << "has a window of another rank than its operand";
  if (windows.getNumElements() == 0 || type.getNumElements() == 0) return l.finish(l.broadcastScalar(init, type));

  RankedTensorType scalar = RankedTensorType::get({}, type.getElementType());
  double least =
      *select == ReduceKind::Max ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  Value padded = padOperand(l, operand, l.splat(scalar, least), window);
  ArrayRef<int64_t> paddedShape = typeOf(padded).getShape();
  Value best = combineWindows(l, padded, window, windows.getShape(), *select);
  Value zero = l.splat(windows, 0.0), isOpen = l.splat(windows.clone(l.builder.getI1Type()), APInt(1, 1)), sum;
  forEachPosition(window.sizes, [&](ArrayRef<int64_t> offsets) {
    Value here = padded;
    SmallVector<int64_t> high, interior;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      int64_t stride = window.strides[dim], count = windows.getDimSize(dim);
      here = l.takeEvery(here, dim, offsets[dim], stride, count);
      interior.push_back(stride - 1);
      high.push_back(paddedShape[dim] - offsets[dim] - ((count - 1) * stride + 1));
    }
    Value isBest = l.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, here, best);
    Value takes = l.create<arith::AndIOp>(isBest, isOpen);
    isOpen = l.create<arith::AndIOp>(isOpen, l.create<arith::XOrIOp>(isBest, l.splat(typeOf(isBest), APInt(1, 1))));
    Value part = l.create<PadOp>(type.clone(paddedShape), l.create<arith::SelectOp>(takes, source, zero), init, offsets,
                                 high, interior);
    sum = sum ? l.create<arith::AddFOp>(sum, part) : part;
  });
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (paddedShape[dim] != type.getDimSize(dim)) sum = l.takeEvery(sum, dim, window.low[dim], 1, type.getDimSize(dim));
  return l.finish(sum);
}

}  // namespace

void sgd::addWindowLowerings(LoweringTable& table) {
  table["stablehlo.reduce_window"] = lowerReduceWindow;
  table["stablehlo.select_and_scatter"] = lowerSelectAndScatter;
}
