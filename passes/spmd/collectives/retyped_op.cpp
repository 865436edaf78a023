// Projection of one operand onto the op's factors, and from there to all other tensors.
#include "passes/spmd/collectives/retyped_op.h"

#include "dialects/sgd/sharding_rule.h"

using namespace mlir;
using namespace mlir::sgd;

static std::optional<TensorAxes> fromFactors(const TensorMapping& mapping, ArrayRef<int64_t> sizes,
                                             ArrayRef<AxisParts> factors) {
  TensorAxes tensor;
  bool isExact = true;
  for (const auto& dim : mapping) tensor.dims.push_back({joinFactors(dim, sizes, factors, &isExact), /*isOpen=*/false});
  if (!isExact || !hasFactorTiles(mapping, sizes, factors)) return std::nullopt;
  return tensor;
}

/// Whether `tensor` is sharded as its dimensions' factors allow.
static bool fitsMapping(const TensorAxes& tensor, const TensorMapping& mapping, const TensorFactors& projected) {
  for (auto [dim, factors] : llvm::enumerate(mapping)) {
    bool fits = factors.empty() ? tensor.dims[dim].axes.empty() : projected.factors[factors.back()].overflow.empty();
    if (!fits) return false;
  }
  return true;
}

std::optional<OpShardings> mlir::sgd::shardLike(Operation* op, unsigned operand, ShardingAttr sharding,
                                                const MeshAxes& mesh) {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled || op->getNumResults() != 1) return std::nullopt;
  ShardingRule rule = ruled.getShardingRule();
  SmallVector<int64_t> sizes = rule.factorSizes();
  TensorAxes given = mesh.toTensorAxes(sharding);
  TensorFactors projected = project(given, rule.operands[operand], sizes);
  if (!fitsMapping(given, rule.operands[operand], projected)) return std::nullopt;
  SmallVector<AxisParts> axes;
  AxisParts partial = given.unreduced;
  for (auto [factor, held] : llvm::zip(rule.factors, projected.factors)) {
    if (!held.axes.empty() && !factor.canBeSharded()) return std::nullopt;
    if (factor.kind == FactorKind::Reduction) {
      if (!held.axes.empty() && !given.unreduced.empty() && factor.reduceKind != sharding.getUnreducedKind())
        return std::nullopt;
      partial.append(held.axes);
    }
    axes.push_back(held.axes);
  }
  OpShardings shardings;
  for (const TensorMapping& mapping : rule.operands) {
    std::optional<TensorAxes> tensor = fromFactors(mapping, sizes, axes);
    if (!tensor) return std::nullopt;
    shardings.operands.push_back(mesh.toAttr(*tensor));
  }
  shardings.operands[operand] = sharding;
  std::optional<TensorAxes> result = fromFactors(rule.results[0], sizes, axes);
  if (!result) return std::nullopt;
  result->unreduced = partial;
  shardings.result = mesh.toAttr(*result, sharding.getUnreducedKind());
  return shardings;
}

std::optional<OpShardings> mlir::sgd::shardForResult(Operation* op, ShardingAttr sharding, const MeshAxes& mesh) {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled || op->getNumResults() != 1 || sharding.isPartial()) return std::nullopt;
  ShardingRule rule = ruled.getShardingRule();
  if (!llvm::all_of(rule.factors, [](const Factor& factor) { return factor.kind == FactorKind::PassThrough; }))
    return std::nullopt;
  SmallVector<int64_t> sizes = rule.factorSizes();
  TensorAxes given = mesh.toTensorAxes(sharding);
  TensorFactors projected = project(given, rule.results[0], sizes);
  if (!fitsMapping(given, rule.results[0], projected)) return std::nullopt;
  SmallVector<AxisParts> axes;
  for (const FactorAxes& held : projected.factors) axes.push_back(held.axes);
  OpShardings shardings;
  for (const TensorMapping& mapping : rule.operands) {
    std::optional<TensorAxes> tensor = fromFactors(mapping, sizes, axes);
    if (!tensor) return std::nullopt;
    shardings.operands.push_back(mesh.toAttr(*tensor));
  }
  shardings.result = sharding;
  return shardings;
}
