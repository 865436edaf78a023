// Discrete Fourier transforms are linear, and their adjoints are transforms.
#include "passes/graph/autodiff/linear_algebra_call.h"

using namespace mlir;
using namespace mlir::sgd;
namespace la = ::sgd::linear_algebra;

namespace {

constexpr uint32_t kDims = la::kTwoDims | la::kThreeDims;

/// Returns the options of the gradient's transform: its operand is paired where the result was, and the reverse.
uint32_t exchangePairs(uint32_t options) {
  return ((options & la::kPairedOperand) != 0 ? la::kPairedResult : 0u) |
         ((options & la::kPairedResult) != 0 ? la::kPairedOperand : 0u);
}

/// How many elements a transform has.
double countElements(LinearAlgebraCall& call) {
  la::Form form = getLinearAlgebraForm(call.op);
  return static_cast<double>(form.k * form.m * form.n);
}

/// Times `factor`.
SmallVector<Value> scaleAll(TensorMath& math, ValueRange values, double factor) {
  return llvm::map_to_vector(
      values, [&](Value value) -> Value { return math.multiply(value, math.splat(tensorType(value), factor)); });
}

/// Times `first` for element 0 of the half dimension and the middle one of an even number, `others` for all others,
/// which stand for two elements.
SmallVector<Value> scaleHalf(LinearAlgebraCall& call, ValueRange values, double first, double others, bool isPaired) {
  TensorMath& math = call.math.math;
  la::Form form = getLinearAlgebraForm(call.op);
  return llvm::map_to_vector(values, [&](Value value) -> Value {
    RankedTensorType type = tensorType(value);
    int64_t dim = type.getRank() - (isPaired ? 2 : 1);
    SmallVector<APFloat> factors;
    for (uint64_t at = 0; at < static_cast<uint64_t>(type.getDimSize(dim)); ++at) {
      APFloat factor(at == 0 || 2 * at == form.n ? first : others);
      bool losesInfo;
      factor.convert(cast<FloatType>(type.getElementType()).getFloatSemantics(), APFloat::rmNearestTiesToEven,
                     &losesInfo);
      factors.push_back(factor);
    }
    auto vector = RankedTensorType::get({type.getDimSize(dim)}, type.getElementType());
    Value constant = math.create<arith::ConstantOp>(DenseElementsAttr::get(vector, factors));
    return math.multiply(value, math.broadcast(constant, dim, type.getShape()));
  });
}

ValueRange transform(LinearAlgebraCall& call, LinearAlgebraKind kind, uint32_t options, ValueRange inputs) {
  TensorMath& math = call.math.math;
  return createLinearAlgebra(math.getBuilder(), math.getLoc(), kind, options, inputs).getResults();
}

void addAll(LinearAlgebraCall& call, ValueRange gradients) {
  for (auto [input, gradient] : llvm::zip(call.op.getInputs(), gradients)) call.pullback.add(input, gradient);
}

}  // namespace

LogicalResult mlir::sgd::pullFft(LinearAlgebraCall& call) {
  bool isInverse = call.has(la::kInverse);
  uint32_t options = (call.options & kDims) | exchangePairs(call.options) | (isInverse ? 0u : uint32_t{la::kInverse});
  double count = countElements(call);
  ValueRange results = transform(call, LinearAlgebraKind::Fft, options, call.getGradients());
  addAll(call, scaleAll(call.math.math, results, isInverse ? 1 / count : count));
  return success();
}

LogicalResult mlir::sgd::pullRealFft(LinearAlgebraCall& call) {
  bool isOdd = getLinearAlgebraForm(call.op).n % 2 == 1;
  uint32_t options = (call.options & kDims) | exchangePairs(call.options) | (isOdd ? uint32_t{la::kOddLength} : 0u);
  double count = countElements(call);
  SmallVector<Value> scaled = scaleHalf(call, call.getGradients(), count, count / 2, call.has(la::kPairedResult));
  addAll(call, transform(call, LinearAlgebraKind::InverseRealFft, options, scaled));
  return success();
}

LogicalResult mlir::sgd::pullInverseRealFft(LinearAlgebraCall& call) {
  uint32_t options = (call.options & kDims) | exchangePairs(call.options);
  double count = countElements(call);
  ValueRange results = transform(call, LinearAlgebraKind::RealFft, options, call.getGradients());
  addAll(call, scaleHalf(call, results, 1 / count, 2 / count, call.has(la::kPairedOperand)));
  return success();
}
