// Assigns stores to walks and finds values worth keeping.
#include "targets/cpu/codegen/kernel_walks.h"

#include "dialects/sgd/scalar_cost.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::cpu;

namespace {

/// Elements that all kept rows may have together: 256 KiB of floats, which the second-level cache holds.
constexpr int64_t kMostKept = 1 << 16;
/// A value is kept when computing it again takes that many operations: more than a store and a load from near caches.
constexpr int kLeastCost = 8;

class WalkPlanner {
 public:
  WalkPlanner(const KernelPlan& plan, int64_t points) : plan(plan), rowMask(plan.mask(plan.rowVars)), points(points) {}

  /// Fills `kept` and the nodes of each walk for the given stores.
  void evaluate(KernelWalks& walks) {
    evaluatedIn.assign(plan.nodes.size(), 0);
    walks.kept.clear();
    nodes.assign(walks.walks + 1, {});
    for (unsigned walk = 1; walk <= walks.walks; ++walk) {
      seen.clear();
      for (const Node& node : plan.nodes)
        if (node.kind == NodeKind::Reduce && node.phase == walk) visit(node.operands[0], walk, walks);
      for (auto [store, inWalk] : llvm::zip(plan.stores, walks.storeWalk))
        if (inWalk == walk) visit(store.value, walk, walks);
      for (unsigned node : nodes[walk])
        if (evaluatedIn[node] == 0) evaluatedIn[node] = walk;
    }
  }

  bool readsAfter(unsigned buffer, unsigned walk) const {
    for (unsigned later = walk + 1; later < nodes.size(); ++later)
      for (unsigned node : nodes[later])
        if (plan.nodes[node].kind == NodeKind::Load && plan.nodes[node].buffer == buffer) return true;
    return false;
  }

 private:
  bool variesWithLane(const Node& node) const { return plan.laneVar != kNone && (node.vars >> plan.laneVar & 1); }

  /// Values that do not change along the row are computed outside of the walks; but they may be read again in each.
  void visit(unsigned number, unsigned walk, KernelWalks& walks) {
    const Node& node = plan.nodes[number];
    if (node.kind == NodeKind::Reduce || !seen.insert(number).second) return;
    if (walks.kept.count(number)) return;
    bool isKeepable = evaluatedIn[number] != 0 && (node.vars & rowMask) != 0 && variesWithLane(node) &&
                      isa_and_nonnull<FloatType>(node.type) && costOf(number, 0) >= kLeastCost &&
                      static_cast<int64_t>(walks.kept.size() + 1) * points <= kMostKept;
    if (isKeepable) {
      walks.kept[number] = evaluatedIn[number];
      return;
    }
    nodes[walk].push_back(number);
    for (unsigned operand : node.operands) visit(operand, walk, walks);
    if (node.guard != kNone) visit(node.guard, walk, walks);
    for (const IndexExpr::Term& term : node.index.getTerms())
      if (auto computed = plan.opaqueVars.find(term.var); computed != plan.opaqueVars.end())
        visit(computed->second, walk, walks);
  }

  /// Operations per point of the row, counted up to about kLeastCost.
  int costOf(unsigned number, int depth) const {
    const Node& node = plan.nodes[number];
    if (plan.isTransposed(node)) return kLeastCost;  // gathered
    if (node.kind != NodeKind::Elementwise || (node.vars & rowMask) == 0 || depth > kLeastCost) return 0;
    ScalarCost own = getScalarCost(node.op);
    bool isFunction = own == ScalarCost::Function || isa<math::SqrtOp>(node.op);
    int cost = isFunction ? kLeastCost : own == ScalarCost::Division ? 4 : 1;
    for (unsigned operand : node.operands)
      if (cost < kLeastCost) cost += costOf(operand, depth + 1);
    return cost;
  }

  const KernelPlan& plan;
  uint64_t rowMask;
  int64_t points;
  SmallVector<unsigned> evaluatedIn;  // by node: the first walk, 0 for none yet
  std::vector<SmallVector<unsigned>> nodes;
  llvm::DenseSet<unsigned> seen;
};

}  // namespace

KernelWalks mlir::sgd::cpu::planWalks(const KernelPlan& plan, ArrayRef<InPlacePair> inPlace, int64_t points) {
  KernelWalks result;
  result.walks = plan.phases;
  for (const Store& store : plan.stores) {
    result.storeWalk.push_back(store.perRowPoint ? plan.nodes[store.value].phase + 1 : 0);
    result.walks = std::max(result.walks, result.storeWalk.back());
  }
  WalkPlanner planner(plan, points);
  while (true) {
    planner.evaluate(result);
    bool isSafe = true;
    for (InPlacePair pair : inPlace)
      for (auto [store, walk] : llvm::zip(plan.stores, result.storeWalk)) {
        if (store.result != pair.first || walk == 0 || !planner.readsAfter(pair.second, walk)) continue;
        ++walk;  // moving on makes more be read later, but ends at the last walk
        isSafe = false;
      }
    if (isSafe) return result;
  }
}
