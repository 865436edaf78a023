// Grows clusters from the last op to the first: an op joins the cluster that reads it when the kernel still walks its
// data once.
#include "passes/schedule/cluster_graph.h"

#include "passes/schedule/buffers.h"

using namespace mlir;
using namespace mlir::sgd;

static constexpr size_t kMaxMembers = 256, kMaxRoots = 24, kMaxSearch = 4096;
/// Tensors up to this size may be handled by one thread.
static constexpr int64_t kSmall = 16384;

ClusterGraph::ClusterGraph(Block& block) {
  for (Operation& op : llvm::reverse(block.without_terminator())) assign(&op);
  mergeSiblings();
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
  if (keepsIndex(user)) return ofUser;
  if (auto reduce = dyn_cast<ReduceOp>(user))
    return getReducePattern(reduce).rowElements() == 1 ? ofUser : Placement{Placement::Full, {}};
  auto broadcast = dyn_cast<BroadcastInDimOp>(user);
  if (!broadcast || ofUser.kind != Placement::Full) return {};
  std::optional<RowPattern> pattern = getBroadcastPattern(broadcast);
  return pattern ? Placement{Placement::Repeated, *pattern} : Placement{};
}

void ClusterGraph::addUses(Operation* user, Value value, SmallVectorImpl<ClusterUse>& uses) const {
  auto add = [&](ClusterUse use) {
    for (ClusterUse& known : uses) {
      if (known.cluster != use.cluster) continue;
      if (!(known.placement == use.placement)) known.placement = {};
      return;
    }
    uses.push_back(use);
  };
  auto found = placed.find(user);
  if (found == placed.end()) return add({nullptr, {}});
  for (const ClusterUse& use : found->second)
    add(use.cluster ? ClusterUse{use.cluster, placeOperand(user, value, *use.cluster, use.placement)} : use);
}

SmallVector<ClusterUse> ClusterGraph::getUses(Operation* op) const {
  SmallVector<ClusterUse> uses;
  for (Operation* user : op->getUsers()) addUses(user, op->getResult(0), uses);
  return uses;
}

// Rules
// -----------------------------------------------------------------------------------------------------------------

bool ClusterGraph::mayHoldReduce(ReduceOp op, const Cluster& cluster, const Placement& placement) const {
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

bool ClusterGraph::mayJoin(Operation* op, Cluster& cluster, const Placement& placement) const {
  if (cluster.members.size() >= kMaxMembers) return false;
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
    if (!isSmall) bytes += getTensorBytes(operand.getType());
  }
  return bytes <= getTensorBytes(op->getResult(0).getType()) || getNumElements(op->getResult(0)) == 1;
}

bool ClusterGraph::reaches(ArrayRef<Operation*> values, const Cluster* from, const Cluster& cluster) const {
  SmallVector<Operation*> work;
  SmallPtrSet<Operation*, 32> seen;
  SmallPtrSet<const Cluster*, 16> seenClusters;
  auto followUsers = [&](Operation* op) {
    for (Operation* user : op->getUsers())
      if (seen.insert(user).second) work.push_back(user);
  };
  // Users that are computed in `from` are not a way out of it.
  auto follow = [&](Operation* op, bool isStart) {
    auto found = placed.find(op);
    if (found == placed.end()) return followUsers(op), false;
    for (const ClusterUse& use : found->second) {
      if (isStart && use.cluster == from) continue;
      if (!use.cluster) {
        followUsers(op);
      } else if (use.cluster == &cluster) {
        return true;
      } else if (seenClusters.insert(use.cluster).second) {
        for (Operation* root : use.cluster->roots) followUsers(root);
      }
    }
    return false;
  };
  for (Operation* value : values)
    for (Operation* user : value->getUsers())
      if (follow(user, /*isStart=*/true)) return true;
  while (!work.empty()) {
    if (seen.size() > kMaxSearch || follow(work.pop_back_val(), /*isStart=*/false)) return true;
  }
  return false;
}

// Growth
// ----------------------------------------------------------------------------------------------------------------

void ClusterGraph::join(Operation* op, Cluster& cluster, const Placement& placement) {
  Placement own = placement;
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    RowPattern pattern = getReducePattern(reduce);
    if (pattern.rowElements() > 1) {
      if (!cluster.pattern && placement.kind == Placement::Full) {
        // What the cluster has so far is computed once per row of the reduction.
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
  placed[op].push_back({&cluster, own});
}

void ClusterGraph::startCluster(Operation* op) {
  clusters.push_back(std::make_unique<Cluster>());
  Cluster& cluster = *clusters.back();
  cluster.elements = getNumElements(op->getResult(0));
  cluster.isScatter = isa<ScatterOp>(op);
  join(op, cluster, {Placement::Full, {}});
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
  if (!isUsedOutside && uses.size() == 1 && mayJoin(op, *uses[0].cluster, uses[0].placement))
    return join(op, *uses[0].cluster, uses[0].placement);
  if (!isUsedOutside && uses.size() > 1 && mayRepeat(op, uses) &&
      llvm::all_of(uses, [&](const ClusterUse& use) { return mayJoin(op, *use.cluster, use.placement); })) {
    for (const ClusterUse& use : uses) join(op, *use.cluster, use.placement);
    return;
  }
  for (const ClusterUse& use : uses) {
    if (!use.cluster || !mayJoin(op, *use.cluster, use.placement) || !mayBeRoot(op, *use.cluster, use.placement))
      continue;
    if (reaches(op, use.cluster, *use.cluster)) continue;
    join(op, *use.cluster, use.placement);
    use.cluster->roots.insert(op);
    return;
  }
  startCluster(op);
}

// Siblings
// --------------------------------------------------------------------------------------------------------------

bool ClusterGraph::mayMerge(Cluster& left, Cluster& right) const {
  if (left.isScatter || right.isScatter || left.members.size() + right.members.size() > kMaxMembers ||
      left.roots.size() + right.roots.size() > kMaxRoots)
    return false;
  if (left.elements != right.elements || left.pattern != right.pattern) return false;
  return !reaches(left.roots.getArrayRef(), &left, right) && !reaches(right.roots.getArrayRef(), &right, left);
}

void ClusterGraph::merge(Cluster& into, Cluster& from) {
  for (Operation* member : from.members) into.members.insert(member);
  for (Operation* root : from.roots) into.roots.insert(root);
  for (auto& [op, uses] : placed) {
    bool isThere = llvm::any_of(uses, [&](const ClusterUse& use) { return use.cluster == &into; });
    if (isThere) llvm::erase_if(uses, [&](const ClusterUse& use) { return use.cluster == &from; });
    for (ClusterUse& use : uses)
      if (use.cluster == &from) use.cluster = &into;
  }
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
        Value source = getViewRoot(operand);
        Operation* producer = source.getDefiningOp();
        bool isInside =
            producer && placed.count(producer) &&
            llvm::any_of(placed[producer], [&](const ClusterUse& use) { return use.cluster == cluster.get(); });
        if (getNumElements(source) >= 1024 && !isInside) readers[source].insert(cluster.get());
      }
  }
  auto mergeAll = [&](const SetVector<Cluster*>& group) {
    SmallVector<Cluster*> kept;
    for (Cluster* candidate : group) {
      if (candidate->members.empty()) continue;
      auto target = llvm::find_if(
          llvm::reverse(kept), [&](Cluster* other) { return !other->members.empty() && mayMerge(*other, *candidate); });
      if (target != kept.rend())
        merge(**target, *candidate);
      else
        kept.push_back(candidate);
      if (kept.size() > 8) kept.erase(kept.begin());
    }
  };
  for (auto& [value, group] : readers)
    if (group.size() > 1) mergeAll(group);
  mergeAll(scalars);
}
