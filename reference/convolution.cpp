// Convolution by its definition: every window, every input feature.
#include "dialects/fusion/fusion_dialect.h"
#include "reference/ops.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::reference;

/// The element of the lhs that a window reads along one spatial dimension: nullopt for padding and the zeros of
/// dilation.
template <typename Op>
static std::optional<int64_t> findElement(Op op, int64_t dim, int64_t window, int64_t tap, int64_t size) {
  int64_t padded = window * op.getStrides()[dim] + tap * op.getRhsDilations()[dim] - op.getLow()[dim];
  if (padded < 0 || padded % op.getLhsDilations()[dim] != 0) return std::nullopt;
  int64_t element = padded / op.getLhsDilations()[dim];
  return element < size ? std::optional(element) : std::nullopt;
}

static void evaluateConvolution(ConvolutionOp op, Operands operands, Results results) {
  const Tensor &lhs = *operands[0], &rhs = *operands[1];
  Tensor& out = *results[0];
  int64_t spatial = op.getNumSpatialDims();
  SmallVector<int64_t> taps(rhs.shape().take_front(spatial));
  int64_t features = lhs.shape().back();
  forEachIndex(out.shape(), [&](ArrayRef<int64_t> index, int64_t at) {
    double sum = 0;
    uint64_t integerSum = 0;
    forEachIndex(taps, [&](ArrayRef<int64_t> tap, int64_t) {
      Index left = {index[0]}, right(tap);
      for (int64_t dim = 0; dim < spatial; ++dim) {
        auto element = findElement(op, dim, index[dim + 1], tap[dim], lhs.type.getDimSize(dim + 1));
        if (!element) return;
        left.push_back(*element);
      }
      int64_t group = index[spatial + 1];
      left.append({group, 0});
      right.append({group, 0, index[spatial + 2]});
      for (int64_t feature = 0; feature < features; ++feature) {
        left.back() = right[spatial + 1] = feature;
        int64_t l = flatten(left, lhs.shape()), r = flatten(right, rhs.shape());
        if (out.isFloat())
          sum += lhs.floats[l] * rhs.floats[r];
        else
          integerSum += static_cast<uint64_t>(lhs.integers[l]) * static_cast<uint64_t>(rhs.integers[r]);
      }
    });
    out.isFloat() ? out.setFloat(at, sum) : out.setInteger(at, static_cast<int64_t>(integerSum));
  });
}

/// A tensor seen through its labels.
static int64_t flattenLabelled(ArrayRef<int64_t> labels, ArrayRef<int64_t> shape, ArrayRef<int64_t> position) {
  Index index;
  for (int64_t label : labels) index.push_back(label < 0 ? 0 : position[label]);
  return flatten(index, shape);
}

static void evaluateLabelledConvolution(fusion::ConvolutionOp op, Operands operands, Results results) {
  const Tensor &lhs = *operands[0], &rhs = *operands[1];
  Tensor& out = *results[0];
  int64_t spatial = op.getNumSpatialDims();
  SmallVector<int64_t> taps;
  for (int64_t dim = 0; dim < spatial; ++dim) taps.push_back(op.getRhsSize(fusion::ConvolutionOp::kSpatial + dim));
  taps.push_back(op.getLhsSize(fusion::ConvolutionOp::kInput));
  forEachIndex(out.shape(), [&](ArrayRef<int64_t> index, int64_t at) {
    double sum = 0;
    uint64_t integerSum = 0;
    Index window(fusion::ConvolutionOp::kSpatial + spatial, 0);
    for (auto [label, value] : llvm::zip(op.getResultLabels(), index))
      if (label >= 0) window[label] = value;
    forEachIndex(taps, [&](ArrayRef<int64_t> tap, int64_t) {
      Index left = window, right = window;
      left[fusion::ConvolutionOp::kInput] = right[fusion::ConvolutionOp::kInput] = tap.back();
      for (int64_t dim = 0; dim < spatial; ++dim) {
        int64_t label = fusion::ConvolutionOp::kSpatial + dim;
        auto element = findElement(op, dim, window[label], tap[dim], op.getLhsSize(label));
        if (!element) return;
        left[label] = *element;
        right[label] = tap[dim];
      }
      int64_t l = flattenLabelled(op.getLhsLabels(), lhs.shape(), left),
              r = flattenLabelled(op.getRhsLabels(), rhs.shape(), right);
      if (out.isFloat())
        sum += lhs.floats[l] * rhs.floats[r];
      else
        integerSum += static_cast<uint64_t>(lhs.integers[l]) * static_cast<uint64_t>(rhs.integers[r]);
    });
    out.isFloat() ? out.setFloat(at, sum) : out.setInteger(at, static_cast<int64_t>(integerSum));
  });
}

void reference::addConvolutions(Evaluations& evaluations) {
  evaluations.add<ConvolutionOp>(evaluateConvolution);
  evaluations.add<fusion::ConvolutionOp>(evaluateLabelledConvolution);
}
