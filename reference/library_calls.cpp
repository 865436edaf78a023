// Contractions and convolutions with epilogues: the sums in double precision, each step of the list in turn, rounded
// once.
#include <cmath>

#include "dialects/fusion/library_calls.h"
#include "mlir/IR/Builders.h"
#include "reference/ops.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::reference;

static double gelu(double x) {
  const double inner = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
  return x / 2 * (1 + std::tanh(inner));
}

static double geluGradient(double x) {
  const double scale = std::sqrt(2 / M_PI), tangent = std::tanh(scale * (x + 0.044715 * x * x * x));
  return (1 + tangent) / 2 + x / 2 * (1 - tangent * tangent) * scale * (1 + 3 * 0.044715 * x * x);
}

static Operation* createPlain(OpBuilder& builder, fusion::LibraryMatmulOp op, Type sums) {
  return fusion::MatmulOp::create(builder, op.getLoc(), sums, op.getLhs(), op.getRhs(), op.getLhsLabels(),
                                  op.getRhsLabels(), op.getResultLabels(), op.getTf32());
}

static Operation* createPlain(OpBuilder& builder, fusion::LibraryConvolutionOp op, Type sums) {
  return fusion::ConvolutionOp::create(builder, op.getLoc(), sums, op.getLhs(), op.getRhs(), op.getLhsLabels(),
                                       op.getRhsLabels(), op.getResultLabels(), op.getStrides(), op.getLow(),
                                       op.getLhsDilations(), op.getRhsDilations(), op.getTf32());
}

/// Reduces `operand` over the dimensions whose labels are not free.
static void reduce(const Tensor& operand, ArrayRef<int64_t> own, ArrayRef<int64_t> other, Tensor& out) {
  std::vector<double> sums(out.size(), 0);
  forEachIndex(operand.shape(), [&](ArrayRef<int64_t> index, int64_t at) {
    Index free;
    for (auto [label, position] : llvm::zip(own, index))
      if (!llvm::is_contained(other, label)) free.push_back(position);
    sums[flatten(free, out.shape())] += operand.floats[at];
  });
  for (int64_t at = 0; at < out.size(); ++at) out.setFloat(at, sums[at]);
}

template <typename OpTy>
static LogicalResult evaluateCall(OpTy op, Operands in, Results out) {
  OpBuilder builder(op.getContext());
  Tensor sums(cast<RankedTensorType>(op.getResult().getType()).clone(builder.getF64Type()));
  Operation* plain = createPlain(builder, op, sums.type);
  LogicalResult evaluated = evaluateOp(plain, in.take_front(2), {&sums});
  plain->erase();
  if (failed(evaluated)) return failure();
  auto added = in.drop_front(2).begin();
  const Tensor* residual = op.getResidual() ? *added++ : nullptr;
  const Tensor* bias = op.getBias() ? *added++ : nullptr;
  for (int64_t at = 0; at < sums.size(); ++at) {
    double value = sums.floats[at];
    for (fusion::EpilogueStep step : op.getEpilogue()) {
      if (step == fusion::EpilogueStep::kResidual) value += residual->floats[at];
      if (step == fusion::EpilogueStep::kBias) value += bias->floats[at % bias->size()];
      if (step == fusion::EpilogueStep::kRelu && value <= 0) value = 0;
      if (step == fusion::EpilogueStep::kGelu) {
        out[1]->setFloat(at, value);
        value = gelu(value);
      }
      if (step == fusion::EpilogueStep::kGeluGradient) value *= geluGradient((*added)->floats[at]);
    }
    out[0]->setFloat(at, value);
  }
  return success();
}

static LogicalResult evaluateLibraryMatmul(fusion::LibraryMatmulOp op, Operands in, Results out) {
  if (failed(evaluateCall(op, in, out))) return failure();
  if (op.getEpilogue().Has(fusion::EpilogueStep::kLhsReduction))
    reduce(*in[0], op.getLhsLabels(), op.getRhsLabels(), *out[1]);
  if (op.getEpilogue().Has(fusion::EpilogueStep::kRhsReduction))
    reduce(*in[1], op.getRhsLabels(), op.getLhsLabels(), *out[1]);
  return success();
}

void reference::addLibraryCalls(Evaluations& evaluations) {
  evaluations.add<fusion::LibraryMatmulOp>(evaluateLibraryMatmul);
  evaluations.add<fusion::LibraryConvolutionOp>(evaluateCall<fusion::LibraryConvolutionOp>);
}
