// Grows clusters from the last op to the first: an op joins the cluster that reads it when the kernel still walks its
// data once.
#include "passes/kernels/clusters/cluster_graph.h"

#include "dialects/sgd/tensor_layout.h"
#include "dialects/sgd/views.h"
#include "dialects/spmd/program_order.h"
#include "dialects/spmd/spmd_dialect.h"

using namespace mlir;
using namespace mlir::sgd;

static constexpr size_t kMaxSearch = 4096, kMaxTries = 16;
/// Tensors up to this size may be handled by one thread.
static constexpr int64_t kSmall = 16384;
/// A value is stored rather than computed more often than this for an element: sums of sums of shifted values would
/// double their work with every level.
static constexpr int64_t kMaxEvaluations = 16;
/// Ops on an element that cost as much as writing it to memory and reading it again.
static constexpr int64_t kStoreCost = 16, kExpensiveCost = 8;

ClusterGraph::ClusterGraph(Block& block, int64_t elementsPerLaunch)
    : elementsPerLaunch(elementsPerLaunch), order(std::distance(block.begin(), block.end())) {
  for (auto [position, op] : llvm::enumerate(block)) nodes[&op] = position;
  Operation* ordered = nullptr;
  for (Operation& op : llvm::reverse(block.without_terminator())) {
    if (!spmd::keepsOrder(&op)) continue;
    if (ordered) nextOrdered[&op] = ordered;
    ordered = &op;
  }
  for (Operation& op : llvm::reverse(block.without_terminator())) assign(&op);
  mergeSiblings();
  if (elementsPerLaunch > 0) mergeChains();
}

Cluster* Cluster::getMerged() {
  if (!mergedInto) return this;
  // Whoever asks next has it shorter.
  Cluster* last = mergedInto->getMerged();
  if (last != mergedInto) isRowsOfMerged |= mergedInto->isRowsOfMerged;
  return mergedInto = last;
}

ClusterUse ClusterUse::getMerged() const {
  if (!cluster) return *this;
  Cluster* merged = cluster->getMerged();
  if (!cluster->isRowsOfMerged || merged == cluster) return {merged, placement, evaluations};
  bool isFull = placement.kind == Placement::Full;
  return {merged, isFull ? Placement{Placement::Repeated, *merged->pattern} : Placement(), evaluations};
}

std::vector<Cluster*> ClusterGraph::getClusters() const {
  std::vector<Cluster*> result;
  for (const auto& cluster : llvm::reverse(clusters))
    if (!cluster->members.empty()) result.push_back(cluster.get());
  return result;
}

// Uses
// ------------------------------------------------------------------------------------------------------------------

Placement ClusterGraph::placeOperand(Operation* user, Value operand, const Cluster& cluster,
                                     const Placement& ofUser) const {
  if (cluster.isScatter) return {};
  if (getClusterRole(user) == ClusterRole::Update)
    return operand == cast<DynamicUpdateSliceOp>(user).getUpdate() ? ofUser : Placement{};
  if (keepsIndex(user)) return ofUser;
  if (auto reduce = dyn_cast<ReduceOp>(user))
    return getReducePattern(reduce).rowElements() == 1 ? ofUser : Placement{Placement::Full, {}};
  auto broadcast = dyn_cast<BroadcastInDimOp>(user);
  if (!broadcast || ofUser.kind != Placement::Full) return {};
  std::optional<RowPattern> pattern = getBroadcastPattern(broadcast);
  return pattern ? Placement{Placement::Repeated, *pattern} : Placement{};
}

SmallVector<ClusterUse> ClusterGraph::getUses(Operation* op) const {
  llvm::SmallMapVector<Cluster*, ClusterUse, 4> uses;
  auto add = [&](const ClusterUse& use) {
    auto [known, isNew] = uses.insert({use.cluster, use});
    if (isNew) return;
    if (!(known->second.placement == use.placement)) known->second.placement = {};
    known->second.evaluations = std::min(known->second.evaluations + use.evaluations, kMaxEvaluations + 1);
  };
  SmallPtrSet<Operation*, 8> seen;
  for (Operation* user : op->getUsers()) {
    if (!seen.insert(user).second) continue;
    auto found = placed.find(user);
    if (found == placed.end()) {
      add({nullptr, {}});
      continue;
    }
    // An operand that is updated has to be in memory.
    if (getClusterRole(user) == ClusterRole::Update && user->getOperand(0) == op->getResult(0)) add({nullptr, {}});
    for (const ClusterUse& stored : found->second) {
      ClusterUse use = stored.getMerged();
      if (use.cluster) use.placement = placeOperand(user, op->getResult(0), *use.cluster, use.placement);
      add(use);
    }
  }
  return llvm::map_to_vector(uses, [](const auto& entry) {
    ClusterUse use = entry.second;
    if (use.placement.kind != Placement::Elsewhere) use.evaluations = 1;
    return use;
  });
}

// Rules
// -----------------------------------------------------------------------------------------------------------------

bool ClusterGraph::mayHoldReduce(ReduceOp op, const Cluster& cluster, const Placement& placement) const {
  if (cluster.hasUpdate && getReducePattern(op).rowElements() > 1) return false;
  RowPattern pattern = getReducePattern(op);
  if (pattern.rowElements() == 1) return placement.kind != Placement::Elsewhere;
  if (cluster.pattern && !(*cluster.pattern == pattern)) return false;
  bool isRowValue = placement.kind == Placement::Repeated ? placement.pattern == pattern
                                                          : placement.kind == Placement::Full && !cluster.pattern;
  if (cluster.pattern && placement.kind == Placement::Repeated && placement.pattern == *cluster.pattern)
    isRowValue = true;
  if (!isRowValue) return false;
  // Reducing and then walking the whole again pays when rows are contiguous and there are enough of them to share.
  bool walksAgain =
      placement.kind == Placement::Repeated && (!cluster.pattern || llvm::any_of(cluster.roots, [&](Operation* root) {
        return getNumElements(root->getResult(0)) == cluster.elements;
      }));
  if (!walksAgain || cluster.elements <= kSmall) return true;
  return pattern.isContiguous() && pattern.keptElements() >= 16 && pattern.rowElements() <= (1 << 17);
}

/// The cost of one element of `op`, with ops that are computed for it alone; at most about `limit`.
static int64_t getElementCost(Operation* op, int64_t limit) {
  llvm::SmallSetVector<Operation*, 32> cone;
  cone.insert(op);
  int64_t cost = 0;
  for (size_t next = 0; next < cone.size() && cost <= limit; ++next) {
    Operation* member = cone[next];
    if (getClusterRole(member) == ClusterRole::Pointwise) cost += isExpensive(member) ? kExpensiveCost : 1;
    for (Value operand : member->getOperands()) {
      Operation* producer = operand.getDefiningOp();
      if (!producer || cone.contains(producer) || producer->hasTrait<OpTrait::ConstantLike>()) continue;
      ClusterRole role = getClusterRole(producer);
      if (role != ClusterRole::Pointwise && role != ClusterRole::Free) continue;
      if (llvm::all_of(producer->getUsers(), [&](Operation* user) { return cone.contains(user); }))
        cone.insert(producer);
    }
  }
  return cost;
}

/// Whether computing elements of `op` wherever the cluster reads them costs more than storing them.
static bool isBetterStored(Operation* op, const ClusterUse& use) {
  if (use.evaluations == 1) return false;
  if (use.evaluations > kMaxEvaluations) return true;
  double times = static_cast<double>(use.evaluations) * use.cluster->elements / getNumElements(op->getResult(0));
  return times > 1 && (times - 1) * getElementCost(op, kStoreCost) > kStoreCost;
}

bool ClusterGraph::mayJoin(Operation* op, const ClusterUse& use) const {
  const Cluster& cluster = *use.cluster;
  const Placement& placement = use.placement;
  if (cluster.members.size() >= kMaxMembers || isBetterStored(op, use)) return false;
  switch (getClusterRole(op)) {
    case ClusterRole::Reduce:
      return !cluster.isScatter && mayHoldReduce(cast<ReduceOp>(op), cluster, placement);
    case ClusterRole::Pointwise:
      break;
    default:
      return false;
  }
  if (placement.kind == Placement::Full) return true;
  // Read elsewhere: computed once per element read, so it must not be read more often than it has elements.
  bool repeatsAlongLanes = placement.kind == Placement::Elsewhere || !placement.pattern.isContiguous();
  return !repeatsAlongLanes || getNumElements(op->getResult(0)) >= cluster.elements || !isExpensive(op);
}

/// The kernel can store the value at the points where it computes it.
bool ClusterGraph::mayBeRoot(Operation* op, const Cluster& cluster, const Placement& placement) const {
  if (cluster.isScatter || cluster.roots.size() >= kMaxRoots) return false;
  bool isRow = cluster.pattern && placement.kind == Placement::Repeated && placement.pattern == *cluster.pattern;
  auto reduce = dyn_cast<ReduceOp>(op);
  bool hasRows = reduce && getReducePattern(reduce).rowElements() > 1;  // else it is a copy of its operand
  if (hasRows)
    return isRow || placement.kind == Placement::Full || (!cluster.pattern && placement.kind == Placement::Repeated);
  if (isRow) return true;
  if (placement.kind != Placement::Full || getNumElements(op->getResult(0)) != cluster.elements) return false;
  // Columns are shared among few threads: what has to be stored as a whole is better computed by rows.
  return !cluster.pattern || cluster.elements <= kSmall ||
         (cluster.pattern->isContiguous() && cluster.pattern->keptElements() >= 16);
}

/// Computing the op once per cluster moves fewer bytes than storing its result.
bool ClusterGraph::mayRepeat(Operation* op, ArrayRef<ClusterUse> uses) const {
  if (getClusterRole(op) != ClusterRole::Pointwise || isExpensive(op) || isa<PadOp, DynamicSliceOp>(op) ||
      uses.size() > 3)
    return false;
  int64_t bytes = 0;
  SmallPtrSet<Value, 4> seen;
  for (Value operand : op->getOperands()) {
    if (!seen.insert(operand).second) continue;
    Operation* producer = operand.getDefiningOp();
    bool isSmall = getNumElements(operand) == 1 || (producer && isa<BroadcastInDimOp, IotaOp>(producer)) ||
                   (producer && producer->hasTrait<OpTrait::ConstantLike>());
    if (!isSmall) bytes += getByteSize(operand.getType());
  }
  return bytes <= getByteSize(op->getResult(0).getType()) || getNumElements(op->getResult(0)) == 1;
}

bool ClusterGraph::reaches(ArrayRef<Operation*> values, const Cluster* from, const Cluster& cluster,
                           SmallVectorImpl<unsigned>& between, bool directUsesCount) const {
  SmallVector<Operation*> work;
  SmallPtrSet<Operation*, 32> seen;
  SmallPtrSet<const Cluster*, 16> seenClusters;
  auto followUsers = [&](Operation* op) {
    for (Operation* user : op->getUsers())
      if (seen.insert(user).second) work.push_back(user);
    if (Operation* next = nextOrdered.lookup(op); next && seen.insert(next).second) work.push_back(next);
  };
  // Users that are computed in `from` are not a way out of it. Nothing behind `cluster` leads to it.
  auto follow = [&](Operation* op, bool isStart) {
    auto found = placed.find(op);
    if (found == placed.end()) {
      unsigned node = nodes.lookup(op);
      if (!order.isBefore(node, cluster.node)) return false;
      between.push_back(node);
      return followUsers(op), false;
    }
    for (const ClusterUse& use : found->second) {
      const Cluster* user = use.cluster ? use.cluster->getMerged() : nullptr;
      if (isStart && (user == from || (user == &cluster && !directUsesCount))) continue;
      if (!user) {
        followUsers(op);
      } else if (user == &cluster) {
        return true;
      } else if (order.isBefore(user->node, cluster.node) && seenClusters.insert(user).second) {
        between.push_back(user->node);
        for (Operation* root : user->roots) followUsers(root);
      }
    }
    return false;
  };
  SmallPtrSet<Operation*, 16> seenFirst;
  for (Operation* value : values)
    for (Operation* user : value->getUsers())
      if (seenFirst.insert(user).second && follow(user, /*isStart=*/true)) return true;
  while (!work.empty()) {
    if (seen.size() > kMaxSearch || follow(work.pop_back_val(), /*isStart=*/false)) return true;
  }
  llvm::sort(between);
  between.erase(llvm::unique(between), between.end());
  return false;
}

// Growth
// ----------------------------------------------------------------------------------------------------------------

void ClusterGraph::join(Operation* op, const ClusterUse& use) {
  Cluster& cluster = *use.cluster;
  const Placement& placement = use.placement;
  Placement own = placement;
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    RowPattern pattern = getReducePattern(reduce);
    if (pattern.rowElements() > 1) {
      if (!cluster.pattern && placement.kind == Placement::Full) {
        // The cluster so far is computed once per row of the reduction.
        for (Operation* member : cluster.members)
          for (ClusterUse& use : placed[member])
            if (use.cluster == &cluster)
              use.placement =
                  use.placement.kind == Placement::Full ? Placement{Placement::Repeated, pattern} : Placement();
        cluster.elements = getNumElements(reduce.getInput());
      }
      cluster.pattern = pattern;
      own = {Placement::Repeated, pattern};
    }
  }
  cluster.members.insert(op);
  placed[op].push_back({&cluster, own, use.evaluations});
}

void ClusterGraph::startCluster(Operation* op) {
  clusters.push_back(std::make_unique<Cluster>());
  Cluster& cluster = *clusters.back();
  cluster.elements = getComputedElements(op);
  cluster.isScatter = isa<ScatterOp>(op);
  cluster.hasUpdate = getClusterRole(op) == ClusterRole::Update;
  cluster.node = nodes.lookup(op);
  join(op, {&cluster, {Placement::Full, {}}});
  cluster.roots.insert(op);
}

void ClusterGraph::assign(Operation* op) {
  ClusterRole role = getClusterRole(op);
  if (role == ClusterRole::Outside) return;
  SmallVector<ClusterUse> uses = getUses(op);
  if (uses.empty()) return;
  bool isUsedOutside = llvm::any_of(uses, [](const ClusterUse& use) { return !use.cluster; });
  if (role == ClusterRole::Free) {
    bool staysOutside = op->hasTrait<OpTrait::ConstantLike>() || getViewByteOffset(op);
    if (isUsedOutside && !staysOutside) {
      llvm::erase_if(uses, [](const ClusterUse& use) { return !use.cluster; });
      placed[op].assign(uses.begin(), uses.end());
      return startCluster(op);
    }
    placed[op].assign(uses.begin(), uses.end());
    return;
  }
  if (role == ClusterRole::Update) return startCluster(op);
  if (!isUsedOutside && uses.size() == 1 && mayJoin(op, uses[0])) return join(op, uses[0]);
  if (!isUsedOutside && uses.size() > 1 && mayRepeat(op, uses) &&
      llvm::all_of(uses, [&](const ClusterUse& use) { return mayJoin(op, use); })) {
    for (const ClusterUse& use : uses) join(op, use);
    return;
  }
  size_t tries = 0;
  for (const ClusterUse& use : uses) {
    if (!use.cluster || !mayJoin(op, use) || !mayBeRoot(op, *use.cluster, use.placement)) continue;
    if (++tries > kMaxTries) break;
    SmallVector<unsigned> between;
    if (reaches(op, use.cluster, *use.cluster, between)) continue;
    order.moveBehind(between, use.cluster->node);
    join(op, use);
    use.cluster->roots.insert(op);
    return;
  }
  startCluster(op);
}

// Siblings
// --------------------------------------------------------------------------------------------------------------

/// Makes `from` a part of `into` when they fit and neither needs the other's results.
bool ClusterGraph::tryMerge(Cluster& into, Cluster& from) {
  if (into.isScatter || from.isScatter || into.members.size() + from.members.size() > kMaxMembers ||
      into.roots.size() + from.roots.size() > kMaxRoots)
    return false;
  if (into.elements != from.elements || into.pattern != from.pattern) return false;
  bool isFirst = order.isBefore(into.node, from.node);
  Cluster &first = isFirst ? into : from, &second = isFirst ? from : into;
  SmallVector<unsigned> between;
  if (reaches(first.roots.getArrayRef(), &first, second, between)) return false;
  order.moveBehind(between, second.node);
  absorb(into, from, second.node);
  return true;
}

void ClusterGraph::absorb(Cluster& into, Cluster& from, unsigned node) {
  into.node = node;
  into.hasUpdate |= from.hasUpdate;
  into.members.insert_range(from.members);
  into.roots.insert_range(from.roots);
  from.mergedInto = &into;
  from.members.clear();
  from.roots.clear();
}

/// Joins clusters over the same domain that read the same tensor, and those that compute single numbers.
void ClusterGraph::mergeSiblings() {
  llvm::MapVector<Value, SetVector<Cluster*>> readers;
  SetVector<Cluster*> scalars;
  for (const auto& cluster : clusters) {
    if (cluster->elements == 1 && !cluster->pattern) scalars.insert(cluster.get());
    for (Operation* member : cluster->members)
      for (Value operand : member->getOperands()) {
        if (getClusterRole(member) == ClusterRole::Update && operand == member->getOperand(0)) continue;
        Value source = getViewRoot(operand);
        Operation* producer = source.getDefiningOp();
        bool isInside =
            producer && (cluster->members.contains(producer) || getClusterRole(producer) == ClusterRole::Free);
        if (getNumElements(source) >= 1024 && !isInside) readers[source].insert(cluster.get());
      }
  }
  auto mergeAll = [&](const SetVector<Cluster*>& group) {
    SmallVector<Cluster*> kept;
    for (Cluster* candidate : group) {
      if (candidate->members.empty()) continue;
      bool isMerged = llvm::any_of(
          llvm::reverse(kept), [&](Cluster* other) { return !other->members.empty() && tryMerge(*other, *candidate); });
      if (!isMerged) kept.push_back(candidate);
      if (kept.size() > 8) kept.erase(kept.begin());
    }
  };
  for (auto& [value, group] : readers)
    if (group.size() > 1) mergeAll(group);
  mergeAll(scalars);
}
