#include "passes/sharding/propagation/op_problem.h"

#include "passes/sharding/propagation/constants.h"

using namespace mlir;
using namespace mlir::sgd;

static int64_t byteSize(RankedTensorType type) {
  return type.getNumElements() * std::max<int64_t>(type.getElementTypeBitWidth() / 8, 1);
}

OpProblem::OpProblem(const RuledOp& ruled, llvm::function_ref<TensorAxes(Value, bool)> axesOf)
    : tiling(ruled.rule.exchangesTiles ? Tiling::Exchanged : Tiling::Nested), sizes(ruled.rule.factorSizes()) {
  for (const Factor& factor : ruled.rule.factors) {
    canBeSharded.push_back(factor.canBeSharded());
    isReduction.push_back(factor.kind == FactorKind::Reduction);
    if (isReduction.back()) reduceKind = factor.reduceKind;
  }
  axes.reserve(ruled.op->getNumOperands() + ruled.op->getNumResults());  // `tensors` point into it
  auto add = [&](Value value, const TensorMapping& mapping, bool isResult) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type) return;
    axes.push_back(axesOf(value, isResult));
    tensors.push_back({&axes.back(), mapping, byteSize(type), isResult, !isResult && isMadeFreely(value)});
    values.push_back(value);
  };
  for (auto [operand, mapping] : llvm::zip(ruled.op->getOperands(), ruled.rule.operands)) add(operand, mapping, false);
  for (auto [result, mapping] : llvm::zip(ruled.op->getResults(), ruled.rule.results)) add(result, mapping, true);
}
