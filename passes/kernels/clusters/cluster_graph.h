// Clusters while they grow: which ops belong to which, what leaves them, and how each value is indexed inside.
#ifndef SGD_PASSES_KERNELS_CLUSTERS_CLUSTER_GRAPH_H
#define SGD_PASSES_KERNELS_CLUSTERS_CLUSTER_GRAPH_H

#include <memory>
#include <vector>

#include "llvm/ADT/MapVector.h"
#include "passes/kernels/clusters/cluster_rules.h"
#include "passes/kernels/order/topological_order.h"

namespace mlir::sgd {

/// Where the elements of a value are read inside a cluster.
struct Placement {
  enum Kind {
    Full,       // at the point of the domain
    Repeated,   // at the point that `pattern` repeats; at the row when it is the cluster's own pattern
    Elsewhere,  // at other places
  } kind = Elsewhere;
  RowPattern pattern;

  bool operator==(const Placement& other) const {
    return kind == other.kind && (kind != Repeated || pattern == other.pattern);
  }
};

/// A cluster: ops that become one kernel. Its domain is a tensor of `elements`; with reductions, `pattern` says what
/// their rows are.
struct Cluster {
  int64_t elements;
  std::optional<RowPattern> pattern;
  bool isScatter = false;
  bool hasUpdate = false;  // some root is written over its operand
  SetVector<Operation*> members;
  SetVector<Operation*> roots;  // members whose results are used outside
  unsigned node;                // of the order of clusters and ops outside
  Cluster* mergedInto = nullptr;
  bool isRowsOfMerged = false;  // a point of this one is a row of the cluster that it was merged into

  /// The cluster that this one has become part of, or itself.
  Cluster* getMerged();
};

/// A use of a value: in a cluster, or outside of all (null).
struct ClusterUse {
  Cluster* cluster;
  Placement placement;
  /// How often it is computed for a point of the domain, at most: above 1 for values that are read elsewhere, which
  /// each of their readers computes anew.
  int64_t evaluations = 1;

  /// The same use in the cluster that this one was merged into.
  ClusterUse getMerged() const;
};

/// How the domains of a cluster and of a reader of its results map to that of the two merged.
enum class Chain {
  SamePoints,        // they are the same
  ReaderIsRows,      // the reader's points are the producer's rows
  ProducerIsRows,    // the producer's points are the reader's rows
  ProducerIsPoints,  // the reader reduces what the producer has a point each for
};

class ClusterGraph {
 public:
  /// Assigns every op of `block` that can be in a kernel. `elementsPerLaunch`: what a kernel handles in the time that
  /// its launch takes; 0: launches take none, and kernels that depend on each other stay apart where their threads
  /// would do so.
  ClusterGraph(Block& block, int64_t elementsPerLaunch);

  /// Clusters with members, in order of their first root.
  std::vector<Cluster*> getClusters() const;

 private:
  static constexpr size_t kMaxMembers = 256, kMaxRoots = 24;

  void assign(Operation* op);
  /// Uses of `op`'s result by what is assigned already.
  SmallVector<ClusterUse> getUses(Operation* op) const;
  Placement placeOperand(Operation* user, Value operand, const Cluster& cluster, const Placement& ofUser) const;
  bool mayJoin(Operation* op, const ClusterUse& use) const;
  bool mayHoldReduce(ReduceOp op, const Cluster& cluster, const Placement& placement) const;
  bool mayBeRoot(Operation* op, const Cluster& cluster, const Placement& placement) const;
  bool mayRepeat(Operation* op, ArrayRef<ClusterUse> uses) const;
  void join(Operation* op, const ClusterUse& use);
  void startCluster(Operation* op);
  /// Whether the results of `values`, ops of cluster `from`, flow into `cluster` by way of ops outside of `from`, and
  /// of `cluster` too when `directUsesCount` is false. Says yes when it would take long to know. When not, `between`
  /// are the nodes that they flow into and that come before `cluster`.
  bool reaches(ArrayRef<Operation*> values, const Cluster* from, const Cluster& cluster,
               SmallVectorImpl<unsigned>& between, bool directUsesCount = true) const;
  void mergeSiblings();
  bool tryMerge(Cluster& into, Cluster& from);
  /// Merges `from` into `into`, at the position of `node`.
  void absorb(Cluster& into, Cluster& from, unsigned node);
  void mergeChains();
  std::optional<Chain> getChain(Cluster& producer, Cluster& reader) const;
  bool readsWhereMade(Cluster& producer, Cluster& reader, Chain chain) const;
  bool tryChain(Cluster& producer, Cluster& reader);

  const int64_t elementsPerLaunch;
  llvm::DenseMap<Operation*, unsigned> nodes;  // position of each op in the block; a cluster has that of its first op
  llvm::DenseMap<Operation*, Operation*> nextOrdered;  // the next message or host call, in the order of the program
  TopologicalOrder order;
  std::vector<std::unique_ptr<Cluster>> clusters;
  llvm::DenseMap<Operation*, SmallVector<ClusterUse, 1>> placed;  // op -> clusters that compute it, and how
};

}  // namespace mlir::sgd

#endif
