// Lowers batch normalisation and its gradient to reductions over all dimensions but the features'.
#include "dialects/sgd/input_attrs.h"
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/op_lowering.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// The operand of a batch normalisation, and values of one element per feature.
class BatchNorm {
 public:
  BatchNorm(OpLowering& l, double epsilon, int64_t feature)
      : l(l), type(l.getOperandType()), epsilon(epsilon), feature(feature) {
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (dim != feature) others.push_back(dim), elements *= type.getDimSize(dim);
  }

  /// Fails when operands and results do not fit. `full` lists the operands of the full shape, others have one element
  /// per feature.
  LogicalResult check(ArrayRef<unsigned> full) {
    if (feature < 0 || feature >= type.getRank() || !isa<FloatType>(type.getElementType()))
      return l.error() << "needs floats and a feature_index below their rank";
    features = type.clone(ArrayRef<int64_t>{type.getDimSize(feature)});
    for (unsigned i = 0; i < l.operands.size(); ++i)
      if (l.getOperandType(i) != (llvm::is_contained(full, i) ? type : features))
        return l.error() << "operand " << i << " does not fit the others";
    return success();
  }

  Value repeat(Value perFeature) { return l.create<BroadcastInDimOp>(type, perFeature, ArrayRef<int64_t>{feature}); }
  Value sum(Value full) { return l.create<ReduceOp>(features, full, ReduceKind::Add, others); }
  Value mean(Value full) {
    Value total = sum(full);
    total.getDefiningOp()->setAttr(kBatchStatisticsAttr, UnitAttr::get(total.getContext()));
    return l.create<arith::DivFOp>(total, l.splat(features, static_cast<double>(elements)));
  }
  Value variance(Value mean) {
    Value distance = centre(mean);
    return this->mean(l.create<arith::MulFOp>(distance, distance));
  }
  Value centre(Value mean) { return l.create<arith::SubFOp>(l.operands[0], repeat(mean)); }
  /// 1 / sqrt(variance + epsilon)
  Value inverseDeviation(Value variance) {
    return l.create<math::RsqrtOp>(l.create<arith::AddFOp>(variance, l.splat(features, epsilon)));
  }
  Value normalize(Value scale, Value offset, Value mean, Value variance) {
    Value factor = repeat(l.create<arith::MulFOp>(scale, inverseDeviation(variance)));
    return l.create<arith::AddFOp>(l.create<arith::MulFOp>(centre(mean), factor), repeat(offset));
  }

  OpLowering& l;
  RankedTensorType type, features;
  double epsilon;
  int64_t feature, elements = 1;
  SmallVector<int64_t> others;
};

LogicalResult lowerTraining(OpLowering& l) {
  auto op = cast<stablehlo::BatchNormTrainingOp>(l.op);
  BatchNorm norm(l, op.getEpsilon().convertToDouble(), op.getFeatureIndex());
  if (norm.check({0}).failed()) return failure();
  Value mean = norm.mean(l.operands[0]), variance = norm.variance(mean);
  l.results = {norm.normalize(l.operands[1], l.operands[2], mean, variance), mean, variance};
  return success();
}

LogicalResult lowerInference(OpLowering& l) {
  auto op = cast<stablehlo::BatchNormInferenceOp>(l.op);
  BatchNorm norm(l, op.getEpsilon().convertToDouble(), op.getFeatureIndex());
  if (norm.check({0}).failed()) return failure();
  return l.finish(norm.normalize(l.operands[1], l.operands[2], l.operands[3], l.operands[4]));
}

/// With d = operand - mean, s = 1 / sqrt(variance + epsilon) and n elements per feature:
/// scale s / n (n grad - sum(grad) - d s^2 sum(grad d)).
LogicalResult lowerGrad(OpLowering& l) {
  auto op = cast<stablehlo::BatchNormGradOp>(l.op);
  BatchNorm norm(l, op.getEpsilon().convertToDouble(), op.getFeatureIndex());
  if (norm.check({0, 4}).failed()) return failure();
  Value scale = l.operands[1], mean = l.operands[2], gradient = l.operands[4];
  Value distance = norm.centre(mean), inverse = norm.inverseDeviation(l.operands[3]);
  Value total = norm.sum(gradient), weighted = norm.sum(l.create<arith::MulFOp>(gradient, distance));
  Value squared = l.create<arith::MulFOp>(inverse, inverse);
  Value slope = l.create<arith::MulFOp>(distance, norm.repeat(l.create<arith::MulFOp>(squared, weighted)));
  Value count = l.splat(norm.type, static_cast<double>(norm.elements));
  Value rest = l.create<arith::SubFOp>(l.create<arith::MulFOp>(gradient, count), norm.repeat(total));
  rest = l.create<arith::SubFOp>(rest, slope);
  Value factor = l.create<arith::DivFOp>(l.create<arith::MulFOp>(scale, inverse),
                                         l.splat(norm.features, static_cast<double>(norm.elements)));
  l.results = {l.create<arith::MulFOp>(norm.repeat(factor), rest), l.create<arith::MulFOp>(weighted, inverse), total};
  return success();
}

}  // namespace

void mlir::sgd::addNormalizationLowerings(LoweringTable& table) {
  table["stablehlo.batch_norm_grad"] = lowerGrad;
  table["stablehlo.batch_norm_inference"] = lowerInference;
  table["stablehlo.batch_norm_training"] = lowerTraining;
}
