// partial_values.h decides which ops may run on partial values, retyped_op.h the shardings that they then have.
#include "passes/spmd/collectives/reduction_chain.h"

#include "dialects/sgd/tensor_type.h"
#include "mlir/IR/IRMapping.h"
#include "passes/sharding/propagation/partial_values.h"
#include "passes/sharding/reshard/sharding_state.h"

using namespace mlir;
using namespace mlir::sgd;

/// Longest chain that is looked at, so that the passes stay linear.
static constexpr size_t kMaxChain = 8;

static bool isReduction(ReshardOp reshard) {
  return reshard && getSharding(reshard.getInput().getType()).isPartial() &&
         !getSharding(reshard.getType()).isPartial();
}

std::optional<ChainLink> mlir::sgd::getChainLink(Operation* op, unsigned operand, ShardingAttr sharding,
                                                 const MeshAxes& mesh) {
  if (!carriesPartial(op, operand, sharding.getUnreducedKind())) return std::nullopt;
  std::optional<OpShardings> shardings = shardLike(op, operand, sharding, mesh);
  if (!shardings) return std::nullopt;
  // A value that is added to a partial one must be partial too: a neutral constant on all ranks.
  // A factor only changes its type to that of the value that it scales.
  if (joinsPartials(op, sharding.getUnreducedKind()) || scalesPartial(op, operand))
    shardings->operands[1 - operand] = shardings->result;
  for (auto [index, other] : llvm::enumerate(op->getOperands())) {
    if (index == operand) continue;
    ShardingAttr current = getSharding(other.getType());
    if (current.isPartial() || other == op->getOperand(operand)) return std::nullopt;
    auto constant = other.getDefiningOp<arith::ConstantOp>();
    if (current != shardings->operands[index] && !(constant && isa<SplatElementsAttr>(constant.getValue())))
      return std::nullopt;
  }
  return ChainLink{op, operand, *shardings};
}

std::optional<ReductionChain> mlir::sgd::traceReduction(Value value, const MeshAxes& mesh, ChainUses uses) {
  SmallVector<std::pair<Operation*, unsigned>> path;
  while ((uses == ChainUses::Many || value.hasOneUse()) && path.size() <= kMaxChain) {
    if (auto reshard = value.getDefiningOp<ReshardOp>()) {
      if (!isReduction(reshard)) return std::nullopt;
      ReductionChain chain{reshard, {}, getSharding(reshard.getInput().getType())};
      for (auto [op, operand] : llvm::reverse(path)) {
        std::optional<ChainLink> link = getChainLink(op, operand, chain.partial, mesh);
        uint64_t before = getByteSize(tensorType(op->getOperand(operand))),
                 after = getByteSize(tensorType(op->getResult(0)));
        if (!link || after > before) return std::nullopt;
        chain.partial = link->shardings.result;
        chain.links.push_back(std::move(*link));
      }
      return chain;
    }
    Operation* op = value.getDefiningOp();
    if (!op || op->getNumResults() != 1 || op->getNumOperands() == 0) return std::nullopt;
    // A chain goes through the only operand that is not a constant; additions are roots of their own.
    unsigned operand = 0;
    while (operand + 1 < op->getNumOperands() && op->getOperand(operand).getDefiningOp<arith::ConstantOp>()) ++operand;
    if (!carriesPartial(op, operand, ReduceKind::Add) && !isa<ReduceOp>(op)) return std::nullopt;
    path.push_back({op, operand});
    value = op->getOperand(operand);
  }
  return std::nullopt;
}

Value mlir::sgd::cloneOnPartial(const ChainLink& link, Value partial) {
  OpBuilder builder(link.op);
  IRMapping mapping;
  mapping.map(link.op->getOperand(link.operand), partial);
  for (auto [index, other] : llvm::enumerate(link.op->getOperands())) {
    if (index == link.operand || getSharding(other.getType()) == link.shardings.operands[index]) continue;
    auto type = withSharding(tensorType(other), link.shardings.operands[index]);
    auto splat = cast<SplatElementsAttr>(other.getDefiningOp<arith::ConstantOp>().getValue());
    auto constant = arith::ConstantOp::create(builder, other.getLoc(), splat.resizeSplat(type));
    if (scalesPartial(link.op, link.operand)) constant->setAttr(kFactorAttr, builder.getUnitAttr());
    mapping.map(other, constant);
  }
  Operation* copy = builder.clone(*link.op, mapping);
  copy->getResult(0).setType(withSharding(tensorType(link.op->getResult(0)), link.shardings.result));
  return copy->getResult(0);
}

Value mlir::sgd::rebuildOnPartial(const ReductionChain& chain) {
  Value value = ReshardOp(chain.reduction).getInput();
  for (const ChainLink& link : chain.links) value = cloneOnPartial(link, value);
  return value;
}

void mlir::sgd::eraseUnused(Operation* op) {
  SmallVector<Operation*> dead = {op};
  while (!dead.empty()) {
    Operation* next = dead.pop_back_val();
    if (!next->use_empty()) continue;
    for (Value operand : next->getOperands())
      if (Operation* producer = operand.getDefiningOp(); producer && operand.hasOneUse()) dead.push_back(producer);
    next->erase();
  }
}
