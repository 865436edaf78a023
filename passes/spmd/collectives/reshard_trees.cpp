// A tree is a value, the reshards of it, and their reshards; its leaves are uses by other ops.
#include "passes/spmd/collectives/reshard_trees.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
struct Tree {
  Value root;
  SmallVector<ReshardOp, 4> reshards;                        // parents before children
  llvm::MapVector<Type, SmallVector<OpOperand*, 4>> leaves;  // by the sharding that they see
};

/// A path to all leaves: the source of each sharding, in an order in which sources come first.
struct TreeRoute {
  SmallVector<std::pair<RankedTensorType, RankedTensorType>, 4> edges;
  ReshardCost cost;
};
}  // namespace

static void collect(Value value, Tree& tree) {
  for (OpOperand& use : value.getUses()) {
    auto reshard = dyn_cast<ReshardOp>(use.getOwner());
    if (!reshard) {
      tree.leaves[value.getType()].push_back(&use);
      continue;
    }
    tree.reshards.push_back(reshard);
    collect(reshard.getResult(), tree);
  }
}

/// Shardings are connected one by one, each time the one that is cheapest to make from those there are; `hub` is made
/// first (null: none is). A partial root is reduced once: nothing else starts from it.
static std::optional<TreeRoute> growRoute(const Tree& tree, RankedTensorType hub, ReshardCosts& costs) {
  auto root = cast<RankedTensorType>(tree.root.getType());
  bool isPartial = getSharding(root).isPartial();
  TreeRoute route;
  SmallVector<RankedTensorType, 4> sources{root};
  SetVector<RankedTensorType> missing;
  for (const auto& [type, uses] : tree.leaves)
    if (type != root) missing.insert(cast<RankedTensorType>(type));
  while (!missing.empty()) {
    std::optional<ReshardCost> best;
    std::pair<RankedTensorType, RankedTensorType> edge;
    for (RankedTensorType from : sources)
      for (RankedTensorType to : missing) {
        if (sources.size() == 1 ? hub && to != hub : isPartial && from == root) continue;
        std::optional<ReshardCost> cost = costs.get(from, to);
        if (!cost || (best && !(*cost < *best))) continue;
        best = cost;
        edge = {from, to};
      }
    if (!best) return std::nullopt;
    route.edges.push_back(edge);
    route.cost += *best;
    sources.push_back(edge.second);
    missing.remove(edge.second);
  }
  return route;
}

/// Every leaf straight from the root.
static std::optional<TreeRoute> getStar(const Tree& tree, ReshardCosts& costs) {
  auto root = cast<RankedTensorType>(tree.root.getType());
  TreeRoute route;
  for (const auto& [type, uses] : tree.leaves) {
    auto to = cast<RankedTensorType>(type);
    if (to == root) continue;
    std::optional<ReshardCost> cost = costs.get(root, to);
    if (!cost) return std::nullopt;
    route.edges.push_back({root, to});
    route.cost += *cost;
  }
  return route;
}

static std::optional<TreeRoute> chooseRoute(const Tree& tree, ReshardCosts& costs) {
  std::optional<TreeRoute> best = getStar(tree, costs);
  auto consider = [&](RankedTensorType hub) {
    std::optional<TreeRoute> route = growRoute(tree, hub, costs);
    if (route && (!best || route->cost < best->cost)) best = std::move(route);
  };
  consider({});
  for (const auto& [type, uses] : tree.leaves)
    if (type != tree.root.getType()) consider(cast<RankedTensorType>(type));
  return best;
}

/// The first op in program order that uses one of `uses`.
static Operation* firstUser(ArrayRef<OpOperand*> uses) {
  Operation* first = uses.front()->getOwner();
  for (OpOperand* use : uses)
    if (use->getOwner()->isBeforeInBlock(first)) first = use->getOwner();
  return first;
}

/// A reduction stands directly behind its operand, so that the summands do not stay alive; other reshards before their
/// first user.
static Value createReshard(Value from, Type to, Operation* user, Location loc) {
  if (from.getType() == to) return from;
  OpBuilder builder(user);
  if (getSharding(from.getType()).isPartial()) builder.setInsertionPointAfterValue(from);
  return ReshardOp::create(builder, loc, to, from);
}

static void apply(Tree& tree, const TreeRoute& route) {
  DenseMap<Type, Location> locations;
  for (ReshardOp reshard : tree.reshards) locations.try_emplace(reshard.getType(), reshard.getLoc());
  DenseMap<Type, SmallVector<OpOperand*>> needs;  // all uses of a sharding and of what is made from it
  for (const auto& [type, uses] : tree.leaves) llvm::append_range(needs[type], uses);
  for (auto [from, to] : llvm::reverse(route.edges)) {
    SmallVector<OpOperand*> uses = needs[to];
    llvm::append_range(needs[from], uses);
  }
  DenseMap<Type, Value> values{{tree.root.getType(), tree.root}};
  for (auto [from, to] : route.edges) {
    auto found = locations.find(to);
    values[to] = createReshard(values[from], to, firstUser(needs[to]),
                               found == locations.end() ? tree.root.getLoc() : found->second);
  }
  for (auto& [type, uses] : tree.leaves)
    for (OpOperand* use : uses) use->set(values[type]);
  for (ReshardOp reshard : llvm::reverse(tree.reshards)) reshard.erase();
}

/// True when the tree already is what `route` would build.
static bool isAsRouted(const Tree& tree, const TreeRoute& route) {
  if (tree.reshards.size() != route.edges.size()) return false;
  return llvm::all_of(tree.reshards, [&](ReshardOp reshard) {
    return llvm::is_contained(route.edges, std::pair(cast<RankedTensorType>(reshard.getInput().getType()),
                                                     cast<RankedTensorType>(reshard.getType())));
  });
}

unsigned mlir::sgd::rerouteReshards(func::FuncOp function, ReshardCosts& costs) {
  SmallVector<Value> roots;
  function.walk([&](ReshardOp reshard) {
    Value root = reshard.getInput();
    if (!root.getDefiningOp<ReshardOp>() && (roots.empty() || roots.back() != root)) roots.push_back(root);
  });
  llvm::SmallPtrSet<void*, 16> done;
  unsigned numChanged = 0;
  for (Value root : roots) {
    if (!done.insert(root.getAsOpaquePointer()).second) continue;
    Tree tree{root, {}, {}};
    collect(root, tree);
    std::optional<TreeRoute> route = chooseRoute(tree, costs);
    if (!route || isAsRouted(tree, *route)) continue;
    apply(tree, *route);
    ++numChanged;
  }
  return numChanged;
}
