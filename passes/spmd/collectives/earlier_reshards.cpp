// For each value the cheapest way to have it in another sharding: a reshard of it, or its op on operands in other
// shardings.
#include "passes/spmd/collectives/earlier_reshards.h"

#include "dialects/sgd/tensor_type.h"
#include "mlir/IR/IRMapping.h"
#include "passes/spmd/collectives/reduction_chain.h"
#include "passes/spmd/collectives/retyped_op.h"

using namespace mlir;
using namespace mlir::sgd;

/// A chain of more ops than this is not computed again on every rank.
static constexpr unsigned kMaxDepth = 6;

namespace {
/// How a value comes by a sharding.
struct Route {
  uint64_t sentBytes = 0;
  bool isComputed = false;
  SmallVector<ShardingAttr, 3> operands;  // of the op, where it is computed again
};

class OperandReshards {
 public:
  OperandReshards(const MeshAxes& mesh, ReshardCosts& costs) : mesh(mesh), costs(costs) {}

  bool replace(ReshardOp reshard);

 private:
  bool isMadeAnyway(Value value, Type type) const;
  std::optional<Route> findRoute(Value value, ShardingAttr sharding, unsigned depth);
  std::optional<Route> findComputed(Operation* op, ShardingAttr sharding, unsigned depth);
  Value take(OpBuilder& builder, Location loc, Value value, ShardingAttr sharding, unsigned depth);

  const MeshAxes& mesh;
  ReshardCosts& costs;
  ReshardOp replaced;
};
}  // namespace

/// Ops that every rank may as well compute for more elements: they cost no more than what they read and write.
static bool isCheap(Operation* op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 || !isMemoryEffectFree(op)) return false;
  if (isa<ReshardOp, ShardingConstraintOp>(op)) return false;
  return isa<BroadcastInDimOp, TransposeOp>(op) || op->hasTrait<OpTrait::Elementwise>();
}

std::optional<Route> OperandReshards::findComputed(Operation* op, ShardingAttr sharding, unsigned depth) {
  if (op->hasTrait<OpTrait::ConstantLike>()) return Route{.isComputed = true, .operands = {}};
  if (depth == 0 || !isCheap(op)) return std::nullopt;
  std::optional<OpShardings> shardings = shardForResult(op, sharding, mesh);
  if (!shardings) return std::nullopt;
  Route route{.isComputed = true, .operands = shardings->operands};
  for (auto [operand, wanted] : llvm::zip(op->getOperands(), shardings->operands)) {
    std::optional<Route> part = findRoute(operand, wanted, depth - 1);
    if (!part) return std::nullopt;
    route.sentBytes += part->sentBytes;
  }
  return route;
}

/// Whether another user of `value` where `replaced` stands has it resharded to `type`: one reshard serves both.
bool OperandReshards::isMadeAnyway(Value value, Type type) const {
  return llvm::any_of(value.getUsers(), [&](Operation* user) {
    return isa<ReshardOp>(user) && user != replaced && user->getBlock() == replaced->getBlock() &&
           user->getResult(0).getType() == type;
  });
}

std::optional<Route> OperandReshards::findRoute(Value value, ShardingAttr sharding, unsigned depth) {
  RankedTensorType type = tensorType(value), wanted = withSharding(type, sharding);
  if (type == wanted) return Route();
  if (getSharding(type).isPartial()) return std::nullopt;
  std::optional<ReshardCost> direct = costs.get(type, wanted);
  Operation* op = value.getDefiningOp();
  std::optional<Route> computed = op ? findComputed(op, sharding, depth) : std::nullopt;
  if (computed && (!direct || computed->sentBytes < direct->sentBytes)) return computed;
  if (!direct) return std::nullopt;
  if (isMadeAnyway(value, wanted)) return Route();
  return Route{.sentBytes = direct->sentBytes, .operands = {}};
}

Value OperandReshards::take(OpBuilder& builder, Location loc, Value value, ShardingAttr sharding, unsigned depth) {
  RankedTensorType wanted = withSharding(tensorType(value), sharding);
  if (value.getType() == wanted) return value;
  std::optional<Route> route = findRoute(value, sharding, depth);
  if (!route->isComputed) return ReshardOp::create(builder, loc, wanted, value);
  Operation* op = value.getDefiningOp();
  IRMapping mapping;
  for (auto [operand, held] : llvm::zip(op->getOperands(), route->operands))
    mapping.map(operand, take(builder, loc, operand, held, depth - 1));
  Operation* clone = builder.clone(*op, mapping);
  clone->getResult(0).setType(wanted);
  if (auto constant = dyn_cast<arith::ConstantOp>(clone))
    constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue()).reshape(wanted));
  return clone->getResult(0);
}

bool OperandReshards::replace(ReshardOp reshard) {
  auto type = cast<RankedTensorType>(reshard.getType());
  ShardingAttr sharding = getSharding(type);
  if (sharding.isPartial() || !reshard.getInput().getDefiningOp()) return false;
  replaced = reshard;
  std::optional<Route> route = findRoute(reshard.getInput(), sharding, kMaxDepth);
  if (!route || !route->isComputed) return false;
  OpBuilder builder(reshard);
  reshard.replaceAllUsesWith(take(builder, reshard.getLoc(), reshard.getInput(), sharding, kMaxDepth));
  return true;
}

unsigned mlir::sgd::reshardOperands(func::FuncOp function, const MeshAxes& mesh, ReshardCosts& costs) {
  OperandReshards reshards(mesh, costs);
  unsigned numReplaced = 0;
  for (Block* block : getProgramBlocks(function))
    for (ReshardOp reshard : llvm::make_early_inc_range(block->getOps<ReshardOp>())) {
      if (!reshards.replace(reshard)) continue;
      ++numReplaced;
      eraseUnused(reshard);
    }
  return numReplaced;
}
