// The pass sgd-verify-sharding: closes the stage of sgd-shard. Localisation relies on exactly what
// is checked here.
#include "passes/sharding/propagation/passes.h"

#include "passes/sharding/propagation/assignment.h"
#include "passes/sharding/propagation/partial_values.h"
#include "passes/sharding/propagation/propagation.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_VERIFYSHARDINGPASS
#include "passes/sharding/propagation/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// The axes that all tensors of the op together give to its factors, or nullopt when two of them
/// differ, or the tiles of one are not made of tiles of its factors.
std::optional<Assignment> impliedAssignment(const ShardingRule& rule,
                                            ArrayRef<std::pair<TensorAxes, DimFactors>> tensors) {
  SmallVector<int64_t> sizes = rule.factorSizes();
  Tiling tiling = rule.exchangesTiles ? Tiling::Exchanged : Tiling::Nested;
  Assignment assignment(sizes.size());
  SmallVector<bool> isKnown(sizes.size(), false);
  for (const auto& [axes, mapping] : tensors) {
    TensorFactors projected = project(axes, mapping, sizes, tiling);
    for (unsigned factor = 0; factor < sizes.size(); ++factor) {
      const FactorAxes& held = projected.factors[factor];
      if (!held.isPresent) continue;
      if (!held.overflow.empty() || (isKnown[factor] && held.axes != assignment[factor])) return std::nullopt;
      if (!held.axes.empty() && !rule.factors[factor].canBeSharded()) return std::nullopt;
      assignment[factor] = held.axes;
      isKnown[factor] = true;
    }
  }
  for (const auto& [axes, mapping] : tensors)
    if (!hasFactorTiles(mapping, sizes, assignment, tiling)) return std::nullopt;
  return assignment;
}

/// Axes of reduction factors, with their kind, as a set of unreduced axes.
TensorAxes withUnreduced(const ShardingRule& rule, const Assignment& assignment, TensorAxes axes, ReduceKind& kind) {
  axes.unreduced.clear();
  for (auto [factor, held] : llvm::zip(rule.factors, assignment)) {
    if (factor.kind != FactorKind::Reduction || held.empty()) continue;
    axes.unreduced.append(held);
    kind = factor.reduceKind;
  }
  return axes;
}

struct VerifyShardingPass : sgd::impl::VerifyShardingPassBase<VerifyShardingPass> {
  void runOnOperation() override {
    MeshOp meshOp = getMesh(getOperation());
    if (!meshOp) {
      getOperation().emitError("has no mesh after sharding");
      return signalPassFailure();
    }
    MeshAxes mesh(FlatSymbolRefAttr::get(meshOp.getSymNameAttr()), meshOp.getMesh());
    WalkResult result = getOperation().walk(
        [&](Operation* op) { return failed(verify(op, mesh)) ? WalkResult::interrupt() : WalkResult::advance(); });
    if (result.wasInterrupted()) return signalPassFailure();
    markAllAnalysesPreserved();
  }

  LogicalResult verify(Operation* op, const MeshAxes& mesh) {
    for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
      if (failed(verifyType(op, type, mesh))) return failure();
    for (Region& region : op->getRegions())
      for (Type type : region.empty() ? TypeRange() : TypeRange(region.front().getArgumentTypes()))
        if (failed(verifyType(op, type, mesh))) return failure();
    if (isa<ReshardOp>(op)) return success();
    auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
    return ruled ? verifyRule(ruled, mesh) : success();
  }

  LogicalResult verifyType(Operation* op, Type type, const MeshAxes& mesh) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor) return success();
    ShardingAttr sharding = getSharding(type);
    if (!sharding) return op->emitError("has a tensor without sharding after sgd-shard: ") << type;
    if (sharding.getMesh() != mesh.getName())
      return op->emitError("has a tensor on another mesh than ") << mesh.getName() << ": " << type;
    return sharding.verifyAgainst(mesh.getMesh(), tensor.getShape(), [&] { return op->emitError(); });
  }

  LogicalResult verifyRule(ShardingRuleOpInterface op, const MeshAxes& mesh) {
    ShardingRule rule = op.getShardingRule();
    SmallVector<std::pair<TensorAxes, DimFactors>, 3> tensors;
    auto add = [&](Type type, const TensorMapping& mapping) {
      if (ShardingAttr sharding = getSharding(type)) tensors.push_back({mesh.toTensorAxes(sharding), mapping});
    };
    for (auto [type, mapping] : llvm::zip(op->getOperandTypes(), rule.operands)) add(type, mapping);
    for (auto [type, mapping] : llvm::zip(op->getResultTypes(), rule.results)) add(type, mapping);
    std::optional<Assignment> assignment = impliedAssignment(rule, tensors);
    if (!assignment)
      return op->emitError(
          "has operands and results that do not fit one assignment of axes to the factors of its "
          "rule");
    return verifyPartials(op, rule, *assignment, mesh);
  }

  /// Results (and the operand they accumulate onto) are partial over the axes of reduction factors, and over those that
  /// operands carry; free values may be partial as they are.
  LogicalResult verifyPartials(Operation* op, const ShardingRule& rule, const Assignment& assignment,
                               const MeshAxes& mesh) {
    if (isa<arith::ConstantOp>(op)) return success();
    Carried carried = getCarried(op, rule, mesh);
    auto check = [&](Type type, bool isReduced, bool carries, StringRef what) -> LogicalResult {
      ShardingAttr sharding = getSharding(type);
      if (!sharding) return success();
      ReduceKind kind = carried.kind;
      TensorAxes expected = withUnreduced(rule, assignment, mesh.toTensorAxes(sharding), kind);
      if (!isReduced) expected.unreduced.clear();
      if (carries) expected.unreduced.append(carried.axes);
      if (mesh.toAttr(expected, kind) == sharding) return success();
      return op->emitError() << what << " should be sharded as " << mesh.toAttr(expected, kind) << ", is " << sharding;
    };
    for (OpOperand& operand : op->getOpOperands())
      if (failed(check(operand.get().getType(), rule.accumulator == operand.getOperandNumber(),
                       llvm::is_contained(carried.operands, &operand), "operand")))
        return failure();
    for (Type type : op->getResultTypes())
      if (failed(check(type, true, !carried.operands.empty() && !isa<SummandsOp>(op), "result"))) return failure();
    return success();
  }

  /// Operands whose summands the op acts on, and the axes over which they are partial.
  struct Carried {
    SmallVector<OpOperand*, 2> operands;
    AxisParts axes;
    ReduceKind kind = ReduceKind::Add;
  };

  static Carried getCarried(Operation* op, const ShardingRule& rule, const MeshAxes& mesh) {
    if (auto summands = dyn_cast<SummandsOp>(op))
      return {{&op->getOpOperand(0)}, mesh.toTensorAxes(getSharding(summands.getType())).dims.front().axes};
    Carried carried;
    ShardingAttr first;
    for (OpOperand& operand : op->getOpOperands()) {
      ShardingAttr sharding = getSharding(operand.get().getType());
      if (!first && sharding && sharding.isPartial() && rule.accumulator != operand.getOperandNumber())
        first = sharding;
    }
    if (!first) return carried;
    carried.kind = first.getUnreducedKind();
    carried.axes = mesh.toParts(first.getUnreduced());
    carried.operands = getCarriers(op, carried.kind, [&](OpOperand& operand) {
      ShardingAttr sharding = getSharding(operand.get().getType());
      return sharding && sharding.getUnreduced() == first.getUnreduced() && sharding.getUnreducedKind() == carried.kind;
    });
    return carried;
  }
};
}  // namespace
