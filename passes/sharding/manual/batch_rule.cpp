// Registration of the rules, and pieces that several of them are made of.
#include "passes/sharding/manual/batch_rule.h"

#include <numeric>

#include "dialects/spmd/spmd_dialect.h"

#include "passes/sharding/manual/batch_rule.cpp.inc"

using namespace mlir;
using namespace mlir::sgd;

void mlir::sgd::registerBatchRules(DialectRegistry& registry) {
  registry.addExtension(+[](MLIRContext* context, SgdDialect*) {
    attachMovementBatchRules(*context);
    attachRowBatchRules(*context);
    attachIndexedBatchRules(*context);
    attachContractionBatchRules(*context);
    attachRankBatchRules(*context);
  });
  registry.addExtension(+[](MLIRContext* context, spmd::SpmdDialect*) { attachCollectiveBatchRules(*context); });
}

AxisIndices mlir::sgd::uniteAxes(ArrayRef<Batched> operands) {
  AxisIndices axes;
  for (const Batched& operand : operands) axes = unite(axes, operand.axes);
  return axes;
}

SmallVector<int64_t> mlir::sgd::shifted(int64_t count, ArrayRef<int64_t> values) {
  return llvm::map_to_vector(values, [&](int64_t value) { return value + count; });
}

SmallVector<int64_t> mlir::sgd::behind(int64_t count, ArrayRef<int64_t> values) {
  SmallVector<int64_t> result(count);
  std::iota(result.begin(), result.end(), 0);
  llvm::append_range(result, shifted(count, values));
  return result;
}

SmallVector<int64_t> mlir::sgd::prefixed(int64_t count, int64_t value, ArrayRef<int64_t> values) {
  SmallVector<int64_t> result(count, value);
  llvm::append_range(result, values);
  return result;
}

Operation* mlir::sgd::cloneWith(Operation* op, ValueRange operands, ArrayRef<unsigned> axes, BatchBuilder& batch) {
  Operation* copy = batch.getBuilder().clone(*op);
  copy->setOperands(operands);
  for (OpResult result : copy->getResults()) result.setType(batch.getBatchedType(axes, result.getType()));
  return copy;
}

SmallVector<Value> mlir::sgd::spreadAll(Location loc, ArrayRef<Batched> operands, ArrayRef<unsigned> axes,
                                        BatchBuilder& batch) {
  return llvm::map_to_vector(operands, [&](const Batched& operand) { return batch.spread(loc, operand, axes).value; });
}
