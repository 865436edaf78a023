// Clusters that read each other's results where these are made become one: a launch less, and a value less to read
// again. For targets on which a launch takes as long as much work.
#include "passes/kernels/clusters/cluster_graph.h"

using namespace mlir;
using namespace mlir::sgd;

/// Most threads of a block that share a column, and points that one of them should have at most.
static constexpr int64_t kColumnThreads = 8, kMostPoints = 64;

/// Whether the threads that reduce `reader` are enough to compute, besides, a point each of what it reduces.
static bool hasThreadsForPoints(const Cluster& reader, int64_t elementsPerLaunch) {
  const RowPattern& pattern = *reader.pattern;
  if (pattern.isContiguous() || reader.elements <= elementsPerLaunch / kMostPoints) return true;
  int64_t threads = pattern.keptElements() * std::min(pattern.rowElements(), kColumnThreads);
  return reader.elements <= threads * kMostPoints;
}

std::optional<Chain> ClusterGraph::getChain(Cluster& producer, Cluster& reader) const {
  if (producer.isScatter || reader.isScatter || producer.hasUpdate || reader.hasUpdate) return std::nullopt;
  if (!producer.pattern && reader.pattern && producer.elements == reader.elements)
    return hasThreadsForPoints(reader, elementsPerLaunch) ? std::optional(Chain::ProducerIsPoints) : std::nullopt;
  // A value that is read long before it is needed again would have to stay in memory.
  if (std::max(producer.elements, reader.elements) > elementsPerLaunch) return std::nullopt;
  if (producer.pattern == reader.pattern && producer.elements == reader.elements) return Chain::SamePoints;
  if (producer.pattern && !reader.pattern && reader.elements == producer.pattern->keptElements())
    return Chain::ReaderIsRows;
  if (!producer.pattern && reader.pattern && producer.elements == reader.pattern->keptElements())
    return Chain::ProducerIsRows;
  return std::nullopt;
}

/// Whether every value of `producer` is read at the point of the common domain that makes it.
bool ClusterGraph::readsWhereMade(Cluster& producer, Cluster& reader, Chain chain) const {
  auto find = [](ArrayRef<ClusterUse> uses, const Cluster& cluster) -> std::optional<Placement> {
    std::optional<Placement> found;
    for (const ClusterUse& stored : uses) {
      ClusterUse use = stored.getMerged();
      if (use.cluster != &cluster) continue;
      if (found && !(*found == use.placement)) return Placement();
      found = use.placement;
    }
    return found;
  };
  auto inCommon = [](Placement placement, bool isRows, const Cluster& other) {
    if (!isRows) return placement;
    return placement.kind == Placement::Full ? Placement{Placement::Repeated, *other.pattern} : Placement();
  };
  return llvm::all_of(producer.roots, [&](Operation* root) {
    std::optional<Placement> read = find(getUses(root), reader);
    if (!read) return true;
    Placement made = inCommon(*find(placed.lookup(root), producer), chain == Chain::ProducerIsRows, reader);
    *read = inCommon(*read, chain == Chain::ReaderIsRows, producer);
    const Cluster& common = chain == Chain::ReaderIsRows ? producer : reader;
    bool isPoint = made.kind == Placement::Full ||
                   (made.kind == Placement::Repeated && common.pattern && made.pattern == *common.pattern);
    return isPoint && made == *read;
  });
}

bool ClusterGraph::tryChain(Cluster& producer, Cluster& reader) {
  if (producer.members.size() + reader.members.size() > kMaxMembers) return false;
  std::optional<Chain> chain = getChain(producer, reader);
  if (!chain || !readsWhereMade(producer, reader, *chain)) return false;
  SmallVector<unsigned> between;
  if (reaches(producer.roots.getArrayRef(), &producer, reader, between, /*directUsesCount=*/false)) return false;
  bool isReaderKept = chain != Chain::ReaderIsRows;
  Cluster &into = isReaderKept ? reader : producer, &from = isReaderKept ? producer : reader;
  auto isNeededOutside = [&](Operation* root) {
    return llvm::any_of(getUses(root),
                        [&](const ClusterUse& use) { return use.cluster != &producer && use.cluster != &reader; });
  };
  SetVector<Operation*> roots;
  for (Cluster* cluster : {&producer, &reader})
    for (Operation* root : cluster->roots)
      if (isNeededOutside(root)) roots.insert(root);
  if (roots.size() > kMaxRoots) return false;
  order.moveBehind(between, reader.node);
  from.isRowsOfMerged = chain == Chain::ReaderIsRows || chain == Chain::ProducerIsRows;
  absorb(into, from, reader.node);
  into.roots = std::move(roots);
  return true;
}

/// From the first cluster to the last, each with those that it reads, as long as one of them fits.
void ClusterGraph::mergeChains() {
  llvm::DenseMap<Operation*, Cluster*> makers;
  for (const auto& cluster : clusters)
    for (Operation* root : cluster->roots) makers[root] = cluster.get();
  auto mergeOne = [&](Cluster*& reader) {
    SetVector<Cluster*> producers;
    SmallVector<Value> work;
    SmallPtrSet<Value, 32> seen;
    for (Operation* member : reader->members) llvm::append_range(work, member->getOperands());
    while (!work.empty()) {
      Value value = work.pop_back_val();
      Operation* op = value.getDefiningOp();
      if (!op || !seen.insert(value).second) continue;
      if (Cluster* maker = makers.lookup(op)) {
        if (maker->getMerged() != reader) producers.insert(maker->getMerged());
      } else if (getClusterRole(op) == ClusterRole::Free) {
        llvm::append_range(work, op->getOperands());
      }
    }
    for (Cluster* producer : producers) {
      if (!tryChain(*producer, *reader)) continue;
      reader = reader->getMerged();
      return true;
    }
    return false;
  };
  for (Cluster* cluster : getClusters())
    for (Cluster* reader = cluster->getMerged(); mergeOne(reader);) {
    }
}
