// Amplitudes are bounds for what code may do, with the largest seen errors of the math functions.
#include "tests/differential/rounding_noise.h"

#include <cmath>

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/sgd/grouped_dot.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::differential;
using reference::RankTensors;
using reference::Tensor;

namespace {

/// The type that sums of `type` are taken in.
double getSumEpsilon(Type type) { return type.isF64() ? 0x1p-52 : 0x1p-23; }

bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }

/// Ops that add up many terms, and how many to a result; 0 for others. Largest and smallest are not sums.
int64_t countTerms(Operation* op) {
  if (op->getNumResults() == 0 || !isFloat(op->getResult(0))) return 0;
  auto elements = [](Value value) {
    return std::max<int64_t>(1, cast<RankedTensorType>(value.getType()).getNumElements());
  };
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    bool rounds = reduce.getKind() == ReduceKind::Add || reduce.getKind() == ReduceKind::Mul;
    return rounds ? elements(reduce.getInput()) / elements(reduce.getResult()) + 1 : 0;
  }
  if (auto cumulative = dyn_cast<CumulativeOp>(op)) {
    bool rounds = cumulative.getKind() == ReduceKind::Add || cumulative.getKind() == ReduceKind::Mul;
    return rounds ? cast<RankedTensorType>(cumulative.getType()).getDimSize(cumulative.getDimension()) + 1 : 0;
  }
  if (auto scatter = dyn_cast<ScatterOp>(op)) {
    bool rounds = scatter.getKind() == ScatterKind::Add || scatter.getKind() == ScatterKind::Mul;
    return rounds ? elements(scatter.getUpdates()) + 1 : 0;
  }
  if (isa<DotGeneralOp, GroupedDotOp, fusion::MatmulOp, ConvolutionOp>(op)) return elements(op->getOperand(0)) + 1;
  if (isa<spmd::AllReduceOp, spmd::ReduceScatterOp>(op)) return 8;
  if (auto call = dyn_cast<LinearAlgebraOp>(op)) {
    auto size = static_cast<int64_t>(getLinearAlgebraForm(call).m + getLinearAlgebraForm(call).n);
    return 16 * size * size;
  }
  return 0;
}

/// Units in the last place that an elementwise float op may be wrong by, beyond its correct rounding.
double getUlps(Operation* op) {
  if (op->getNumResults() != 1 || !isFloat(op->getResult(0))) return 0;
  if (isa<math::AbsFOp, math::CeilOp, math::FloorOp, math::TruncOp, math::RoundOp, math::RoundEvenOp, math::CopySignOp,
          math::SqrtOp>(op))
    return 0;
  if (isa<math::MathDialect>(op->getDialect())) return 4;
  if (op->getResult(0).use_empty()) return 0;
  // A product may go into a sum unrounded; one of matrices is rounded to a narrow type behind what is added to it.
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  bool isNarrow = getEpsilon(type) > getSumEpsilon(type);
  bool isContraction = isa<DotGeneralOp, GroupedDotOp, fusion::MatmulOp, ConvolutionOp>(op);
  return isa<arith::MulFOp>(op) || (isContraction && isNarrow) ? 0.5 : 0;
}

/// Ops of narrow types around the exponential of a softmax, which attention takes in f32, unrounded.
bool isInSoftmax(Operation* op) {
  if (op->getNumResults() != 1 || !isFloat(op->getResult(0))) return false;
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  if (getEpsilon(type) <= getSumEpsilon(type)) return false;
  if (isa<arith::SubFOp>(op))
    return llvm::any_of(op->getUsers(), [](Operation* user) { return isa<math::ExpOp>(user); });
  if (isa<arith::DivFOp>(op)) return op->getOperand(0).getDefiningOp<math::ExpOp>() != nullptr;
  return isa<math::ExpOp>(op);
}

}  // namespace

double differential::getEpsilon(Type type) {
  return std::exp2(1 - static_cast<double>(cast<FloatType>(type).getFPMantissaWidth()));
}

bool RoundingNoise::wantsOperands(Operation* op) { return countTerms(op) > 0; }

void RoundingNoise::beforeOp(Operation* op, std::vector<RankTensors>& operands) {
  auto terms = static_cast<double>(countTerms(op));
  for (RankTensors& tensors : operands) {
    for (Tensor& tensor : tensors) {
      if (!tensor.isFloat()) continue;
      double relative = (2 + std::sqrt(terms)) * getSumEpsilon(tensor.element());
      if (hasPartialSums || isa<ScatterOp>(op)) relative += 2 * getEpsilon(tensor.element());
      if (auto call = dyn_cast<LinearAlgebraOp>(op))
        disturbMatrices(tensor, getLinearAlgebraBatch(call).size(), relative);
      else
        disturb(tensor, relative, /*rounds=*/false);
    }
  }
}

void RoundingNoise::afterOp(Operation* op, std::vector<RankTensors>& results) {
  if (auto call = dyn_cast<LinearAlgebraOp>(op)) return disturbResults(call, results);
  double ulps = getUlps(op);
  if (ulps == 0 && !isInSoftmax(op)) return;
  Type type = results[0][0].element();
  // Narrow types are computed in f32.
  double relative = ulps * (isa<math::MathDialect>(op->getDialect()) ? getSumEpsilon(type) : getEpsilon(type));
  if (isInSoftmax(op)) relative += 0.5 * getEpsilon(type);
  for (RankTensors& tensors : results)
    for (Tensor& tensor : tensors) disturb(tensor, relative, /*rounds=*/true);
}

void RoundingNoise::disturb(Tensor& tensor, double relative, bool rounds) {
  for (double& value : tensor.floats) {
    value += value * relative * getUnit();
    if (rounds) value = reference::roundTo(value, tensor.element());
  }
}

void RoundingNoise::disturbResults(LinearAlgebraOp call, std::vector<RankTensors>& results) {
  linear_algebra::Form form = getLinearAlgebraForm(call);
  for (RankTensors& tensors : results)
    for (Tensor& tensor : tensors)
      if (tensor.isFloat())
        disturbMatrices(tensor, getLinearAlgebraBatch(call).size(),
                        (1 + std::sqrt(static_cast<double>(form.m + form.n))) * getSumEpsilon(tensor.element()));
}

void RoundingNoise::disturbMatrices(Tensor& tensor, size_t batch, double relative) {
  int64_t size = llvm::product_of(tensor.shape().drop_front(batch));
  for (int64_t begin = 0; begin < tensor.size(); begin += size) {
    auto matrix = MutableArrayRef(tensor.floats).slice(begin, size);
    double largest = 0;
    for (double value : matrix)
      if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
    for (double& value : matrix) value = reference::roundTo(value + largest * relative * getUnit(), tensor.element());
  }
}

bool differential::hasRoundingNoise(Value value) {
  llvm::SetVector<Operation*> ops;
  if (Operation* op = value.getDefiningOp()) ops.insert(op);
  for (size_t i = 0; i < ops.size(); ++i) {
    // Bodies of loops and of manual regions count as well.
    bool isNoisy = ops[i]
                       ->walk([](Operation* op) {
                         return countTerms(op) > 0 || getUlps(op) > 0 ? WalkResult::interrupt() : WalkResult::advance();
                       })
                       .wasInterrupted();
    if (isNoisy) return true;
    for (Value operand : ops[i]->getOperands())
      if (Operation* op = operand.getDefiningOp()) ops.insert(op);
  }
  return false;
}
