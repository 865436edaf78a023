// The rule of linear algebra: matrices of a batch and free columns of solvers pass through, everything else of a matrix
// is whole.
#include "passes/sharding/propagation/linear_algebra_rules.h"

#include "dialects/sgd/linear_algebra.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

struct LinearAlgebraRule : ShardingRuleOpInterface::ExternalModel<LinearAlgebraRule, LinearAlgebraOp> {
  ShardingRule getShardingRule(Operation* op) const {
    auto call = cast<LinearAlgebraOp>(op);
    linear_algebra::Form form = getLinearAlgebraForm(call);
    ShardingRule rule = ShardingRule::empty(op);
    ArrayRef<int64_t> batch = getLinearAlgebraBatch(call);
    for (int64_t size : batch) rule.addFactor(size);
    std::optional<unsigned> freeFactor;
    auto map = [&](const linear_algebra::Tensor& tensor, auto&& mapDim) {
      for (unsigned dim = 0; dim < batch.size(); ++dim) mapDim(dim, dim);
      for (auto [index, dim] : llvm::enumerate(tensor.dims)) {
        auto size = static_cast<int64_t>(dim.size);
        if (dim.is_free && !freeFactor) freeFactor = rule.addFactor(size);
        mapDim(batch.size() + index, dim.is_free ? *freeFactor : rule.addFactor(size, FactorKind::NeedReplication));
      }
    };
    for (auto [operand, tensor] : llvm::enumerate(linear_algebra::InputsOf(form)))
      map(tensor, [&, operand = operand](int64_t dim, unsigned factor) { rule.mapOperand(operand, dim, factor); });
    for (auto [result, tensor] : llvm::enumerate(linear_algebra::OutputsOf(form)))
      map(tensor, [&, result = result](int64_t dim, unsigned factor) { rule.mapResult(dim, factor, result); });
    return rule;
  }
};

}  // namespace

void mlir::sgd::registerLinearAlgebraRules(DialectRegistry& registry) {
  registry.addExtension(
      +[](MLIRContext* context, SgdDialect*) { LinearAlgebraOp::attachInterface<LinearAlgebraRule>(*context); });
}
