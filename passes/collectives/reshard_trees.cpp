// A tree is a value, the reshards of it, and their reshards; its leaves are uses by other ops.
#include "passes/collectives/reshard_trees.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
struct Tree {
  Value root;
  SmallVector<ReshardOp, 4> reshards;                         // parents before children
  llvm::MapVector<Type, SmallVector<OpOperand *, 4>> leaves;  // by the sharding that they see
};

/// The way to all leaves: through `hub` (null: none), and what that costs.
struct Route {
  RankedTensorType hub;
  ReshardCost cost;
};
}  // namespace

static void collect(Value value, Tree &tree) {
  for (OpOperand &use : value.getUses()) {
    auto reshard = dyn_cast<ReshardOp>(use.getOwner());
    if (!reshard) {
      tree.leaves[value.getType()].push_back(&use);
      continue;
    }
    tree.reshards.push_back(reshard);
    collect(reshard.getResult(), tree);
  }
}

/// Cost of reaching every leaf; a partial root is reduced once, so with a hub nothing else starts from it.
static std::optional<ReshardCost> getCost(const Tree &tree, RankedTensorType hub, ReshardCosts &costs) {
  auto root = cast<RankedTensorType>(tree.root.getType());
  ReshardCost total;
  if (hub) {
    std::optional<ReshardCost> cost = costs.get(root, hub);
    if (!cost) return std::nullopt;
    total += *cost;
  }
  for (const auto &[type, uses] : tree.leaves) {
    if (type == hub || type == root) continue;
    std::optional<ReshardCost> cost = costs.get(root, cast<RankedTensorType>(type));
    std::optional<ReshardCost> fromHub = hub ? costs.get(hub, cast<RankedTensorType>(type)) : std::nullopt;
    if (fromHub && (!cost || *fromHub < *cost)) cost = fromHub;
    if (!cost) return std::nullopt;
    total += *cost;
  }
  return total;
}

static std::optional<Route> chooseRoute(const Tree &tree, ReshardCosts &costs) {
  std::optional<Route> best;
  auto consider = [&](RankedTensorType hub) {
    std::optional<ReshardCost> cost = getCost(tree, hub, costs);
    if (cost && (!best || *cost < best->cost)) best = Route{hub, *cost};
  };
  consider({});
  for (const auto &[type, uses] : tree.leaves)
    if (type != tree.root.getType()) consider(cast<RankedTensorType>(type));
  return best;
}

/// The first op in program order that uses one of `uses`.
static Operation *firstUser(ArrayRef<OpOperand *> uses) {
  Operation *first = uses.front()->getOwner();
  for (OpOperand *use : uses)
    if (use->getOwner()->isBeforeInBlock(first)) first = use->getOwner();
  return first;
}

/// A reduction stands directly behind its operand, so that the summands do not stay alive; other reshards before their first user.
static Value createReshard(Value from, Type to, Operation *user, Location loc) {
  if (from.getType() == to) return from;
  OpBuilder builder(user);
  if (getSharding(from.getType()).isPartial()) builder.setInsertionPointAfterValue(from);
  return ReshardOp::create(builder, loc, to, from);
}

static void apply(Tree &tree, const Route &route) {
  SmallVector<OpOperand *> all;
  for (const auto &[type, uses] : tree.leaves) llvm::append_range(all, uses);
  DenseMap<Type, Location> locations;
  for (ReshardOp reshard : tree.reshards) locations.try_emplace(reshard.getType(), reshard.getLoc());
  auto getLoc = [&](Type type) { auto found = locations.find(type); return found == locations.end() ? tree.root.getLoc() : found->second; };
  Value hub = route.hub ? createReshard(tree.root, route.hub, firstUser(all), getLoc(route.hub)) : tree.root;
  for (auto &[type, uses] : tree.leaves) {
    Value value = type == tree.root.getType() ? tree.root : createReshard(hub, type, firstUser(uses), getLoc(type));
    for (OpOperand *use : uses) use->set(value);
  }
  for (ReshardOp reshard : llvm::reverse(tree.reshards)) reshard.erase();
}

/// True when the tree already is what `route` would build.
static bool isAsRouted(const Tree &tree, const Route &route) {
  llvm::SmallPtrSet<Type, 4> seen;
  for (ReshardOp reshard : tree.reshards) {
    Type from = reshard.getInput().getType();
    bool isFromRoot = reshard.getInput() == tree.root;
    if (!seen.insert(reshard.getType()).second || !tree.leaves.contains(reshard.getType())) return false;
    if (route.hub ? (reshard.getType() == route.hub ? !isFromRoot : from != route.hub) : !isFromRoot) return false;
  }
  return true;
}

unsigned mlir::sgd::rerouteReshards(func::FuncOp function, ReshardCosts &costs) {
  SmallVector<Value> roots;
  function.walk([&](ReshardOp reshard) {
    Value root = reshard.getInput();
    if (!root.getDefiningOp<ReshardOp>() && (roots.empty() || roots.back() != root)) roots.push_back(root);
  });
  llvm::SmallPtrSet<void *, 16> done;
  unsigned numChanged = 0;
  for (Value root : roots) {
    if (!done.insert(root.getAsOpaquePointer()).second) continue;
    Tree tree{root, {}, {}};
    collect(root, tree);
    std::optional<Route> route = chooseRoute(tree, costs);
    if (!route || isAsRouted(tree, *route)) continue;
    apply(tree, *route);
    ++numChanged;
  }
  return numChanged;
}
