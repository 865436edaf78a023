// A chain is a reduction followed by linear ops with one use each; two chains that meet in a sum, or one that ends in a
// smaller value, are rebuilt on the partial value with the reduction behind.
#include "passes/collectives/carried_reductions.h"

#include "mlir/IR/IRMapping.h"
#include "passes/collectives/retyped_op.h"
#include "passes/partition/partial_values.h"
#include "passes/partition/sharding_state.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// Longest chain that is looked at, so that the pass stays linear.
constexpr size_t kMaxChain = 8;

/// One op of a chain: which operand is carried, and the shardings when it is partial.
struct Link {
  Operation* op;
  unsigned operand;
  OpShardings shardings;
};

struct Chain {
  ReshardOp reduction;
  SmallVector<Link, 4> links;  // from the reduction to the traced value
  ShardingAttr partial;        // of the traced value when the chain is carried
};

class Carrier {
 public:
  Carrier(const MeshAxes& mesh, ReshardCosts& costs) : mesh(mesh), costs(costs) {}

  void visit(Operation* op);
  CarriedReductions counts;

 private:
  std::optional<Chain> trace(Value value);
  std::optional<Link> carry(Operation* op, unsigned operand, ShardingAttr sharding);
  bool merge(Operation* op);
  bool shrink(Operation* op);
  Value rebuild(Chain& chain);
  Value cloneOnPartial(const Link& link, Value partial);
  void finish(Operation* op, Value partial);

  const MeshAxes& mesh;
  ReshardCosts& costs;
};
}  // namespace

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

static bool isReduction(ReshardOp reshard) {
  return reshard && getSharding(reshard.getInput().getType()).isPartial() &&
         !getSharding(reshard.getType()).isPartial();
}

/// `op` on a partial operand, when it is linear in it and its other operands can stay as they are or are constants.
std::optional<Link> Carrier::carry(Operation* op, unsigned operand, ShardingAttr sharding) {
  if (!carriesPartial(op, operand, sharding.getUnreducedKind())) return std::nullopt;
  std::optional<OpShardings> shardings = shardLike(op, operand, sharding, mesh);
  if (!shardings) return std::nullopt;
  // What is added to a summand is one itself: a neutral constant on all ranks.
  if (joinsPartials(op, sharding.getUnreducedKind())) shardings->operands[1 - operand] = shardings->result;
  for (auto [index, other] : llvm::enumerate(op->getOperands())) {
    if (index == operand) continue;
    ShardingAttr current = getSharding(other.getType());
    if (current.isPartial() || other == op->getOperand(operand)) return std::nullopt;
    auto constant = other.getDefiningOp<arith::ConstantOp>();
    if (current != shardings->operands[index] && !(constant && isa<SplatElementsAttr>(constant.getValue())))
      return std::nullopt;
  }
  return Link{op, operand, *shardings};
}

/// Walks up from `value` through linear ops with one use to a reduction.
std::optional<Chain> Carrier::trace(Value value) {
  SmallVector<std::pair<Operation*, unsigned>> path;
  while (value.hasOneUse() && path.size() <= kMaxChain) {
    if (auto reshard = value.getDefiningOp<ReshardOp>()) {
      if (!isReduction(reshard)) return std::nullopt;
      Chain chain{reshard, {}, getSharding(reshard.getInput().getType())};
      for (auto [op, operand] : llvm::reverse(path)) {
        std::optional<Link> link = carry(op, operand, chain.partial);
        uint64_t before = getTensorBytes(tensorType(op->getOperand(operand))),
                 after = getTensorBytes(tensorType(op->getResult(0)));
        if (!link || after > before) return std::nullopt;
        chain.partial = link->shardings.result;
        chain.links.push_back(std::move(*link));
      }
      return chain;
    }
    Operation* op = value.getDefiningOp();
    if (!op || op->getNumResults() != 1 || op->getNumOperands() == 0) return std::nullopt;
    // A chain goes through the only operand that is not a constant; sums are roots of their own.
    unsigned operand = 0;
    while (operand + 1 < op->getNumOperands() && op->getOperand(operand).getDefiningOp<arith::ConstantOp>()) ++operand;
    if (!carriesPartial(op, operand, ReduceKind::Add) && !isa<ReduceOp>(op)) return std::nullopt;
    path.push_back({op, operand});
    value = op->getOperand(operand);
  }
  return std::nullopt;
}

/// A copy of the op on the partial value; constants are made in the sharding that it needs.
Value Carrier::cloneOnPartial(const Link& link, Value partial) {
  OpBuilder builder(link.op);
  IRMapping mapping;
  mapping.map(link.op->getOperand(link.operand), partial);
  for (auto [index, other] : llvm::enumerate(link.op->getOperands())) {
    if (index == link.operand || getSharding(other.getType()) == link.shardings.operands[index]) continue;
    auto type = withSharding(tensorType(other), link.shardings.operands[index]);
    auto splat = cast<SplatElementsAttr>(other.getDefiningOp<arith::ConstantOp>().getValue());
    mapping.map(other, arith::ConstantOp::create(builder, other.getLoc(), splat.resizeSplat(type)));
  }
  Operation* copy = builder.clone(*link.op, mapping);
  copy->getResult(0).setType(withSharding(tensorType(link.op->getResult(0)), link.shardings.result));
  return copy->getResult(0);
}

Value Carrier::rebuild(Chain& chain) {
  Value value = chain.reduction.getInput();
  for (const Link& link : chain.links) value = cloneOnPartial(link, value);
  return value;
}

/// Puts a reduction of `partial` in the place of `op`'s result and removes what is unused then.
void Carrier::finish(Operation* op, Value partial) {
  OpBuilder builder(op);
  Value reduced = partial;
  if (partial.getType() != op->getResult(0).getType())
    reduced = ReshardOp::create(builder, op->getLoc(), op->getResult(0).getType(), partial);
  op->getResult(0).replaceAllUsesWith(reduced);
  SmallVector<Operation*> dead = {op};
  while (!dead.empty()) {
    Operation* next = dead.pop_back_val();
    if (!next->use_empty()) continue;
    for (Value operand : next->getOperands())
      if (Operation* producer = operand.getDefiningOp(); producer && operand.hasOneUse()) dead.push_back(producer);
    next->erase();
  }
}

/// A sum of two chains that are partial in the same way.
bool Carrier::merge(Operation* op) {
  if (op->getNumOperands() != 2 || op->getNumResults() != 1 || op->getOperand(0) == op->getOperand(1)) return false;
  std::optional<Chain> lhs = trace(op->getOperand(0));
  if (!lhs || !joinsPartials(op, lhs->partial.getUnreducedKind())) return false;
  std::optional<Chain> rhs = trace(op->getOperand(1));
  if (!rhs || lhs->partial != rhs->partial) return false;
  RankedTensorType type = tensorType(op->getResult(0));
  auto before = costs.get(tensorType(lhs->reduction.getInput()), tensorType(lhs->reduction));
  auto second = costs.get(tensorType(rhs->reduction.getInput()), tensorType(rhs->reduction));
  auto after = costs.get(withSharding(type, lhs->partial), type);
  if (!before || !second || !after) return false;
  *before += *second;
  if (!(*after < *before)) return false;
  OpBuilder builder(op);
  Value left = rebuild(*lhs), right = rebuild(*rhs);
  IRMapping mapping;
  mapping.map(op->getOperand(0), left);
  mapping.map(op->getOperand(1), right);
  Operation* sum = builder.clone(*op, mapping);
  sum->getResult(0).setType(left.getType());
  finish(op, sum->getResult(0));
  return true;
}

/// A chain whose end is smaller than its beginning.
bool Carrier::shrink(Operation* op) {
  if (op->getNumResults() != 1 || !isa<ReduceOp, SliceOp>(op)) return false;
  RankedTensorType type = tensorType(op->getResult(0));
  std::optional<Chain> chain = trace(op->getOperand(0));
  std::optional<Link> link = chain ? carry(op, 0, chain->partial) : std::nullopt;
  if (!link) return false;
  auto before = costs.get(tensorType(chain->reduction.getInput()), tensorType(chain->reduction));
  auto after = costs.get(withSharding(type, link->shardings.result), type);
  if (!before || !after || !(*after < *before)) return false;
  finish(op, cloneOnPartial(*link, rebuild(*chain)));
  return true;
}

void Carrier::visit(Operation* op) {
  if (merge(op))
    ++counts.numMerged;
  else if (shrink(op))
    ++counts.numMoved;
}

CarriedReductions mlir::sgd::carryReductions(func::FuncOp function, const MeshAxes& mesh, ReshardCosts& costs) {
  Carrier carrier(mesh, costs);
  for (Operation& op : llvm::make_early_inc_range(function.getBody().front())) carrier.visit(&op);
  return carrier.counts;
}
