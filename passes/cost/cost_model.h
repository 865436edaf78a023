// Estimated times: collectives by alpha-beta per link class and algorithm, compute by roofline. No IR; in
// seconds and bytes.
#ifndef SGD_PASSES_COST_COST_MODEL_H
#define SGD_PASSES_COST_COST_MODEL_H

#include <vector>

#include "dialects/cost/work.h"
#include "passes/cost/topology.h"
#include "passes/mesh/axis.h"
#include "runtime/comm/collectives/range_load.h"
#include "runtime/comm/collectives/sent_bytes.h"

namespace mlir::sgd {

using ::sgd::comm::CollectiveKind;
using ::sgd::comm::RangeLoad;
using ::sgd::comm::TileRange;

/// Answers for one mesh on one topology. Ranks are numbered row-major over the mesh, in the order of the topology's
/// devices.
class CostModel {
 public:
  CostModel(Topology topology, llvm::ArrayRef<int64_t> mesh) : topology(std::move(topology)), mesh(mesh) {}

  /// Time of one collective over the group `parts`. `bytes` is what one rank holds, counted as `SentBytes` wants it:
  /// the operand of an all-reduce, reduce-scatter, all-to-all, permute or broadcast, the result of an all-gather, what
  /// the busiest rank sends of gathered ranges. The
  /// best of the link's algorithms; over several levels also the hierarchical form.
  double getCollectiveSeconds(CollectiveKind kind, llvm::ArrayRef<AxisPart> parts, uint64_t bytes) const;

  /// Payload that a rank sends by the ring rule: what reports, artifact and runtime count.
  static uint64_t getSentBytes(CollectiveKind kind, llvm::ArrayRef<AxisPart> parts, uint64_t bytes) {
    return ::sgd::comm::SentBytes(kind, getGroupSize(parts), bytes);
  }

  /// Sub-axes that number a rank of `mesh` over `parts`, as in runtime/comm/collectives/tile_range.h.
  static std::vector<::sgd::comm::SubAxis> getSubAxes(llvm::ArrayRef<int64_t> mesh, llvm::ArrayRef<AxisPart> parts);

  /// Bytes that the rank sends which sends most when ranks whose tiles are ordered by `tiles` gather `ranges` that are
  /// ordered by `results`.
  static uint64_t getMostSentBytes(llvm::ArrayRef<int64_t> mesh, llvm::ArrayRef<AxisPart> tiles,
                                   llvm::ArrayRef<AxisPart> results, llvm::ArrayRef<RangeLoad> ranges);

  /// Returns the time of a local copy of tensors that are not in caches: bytes sent must not depend on caches.
  double getMoveSeconds(double bytes) const;

  /// Roofline: the larger of arithmetic and memory time, plus the launch. Operations of each kind and element type take
  /// their own rate, one after another.
  double getSeconds(const Work& work) const;

  /// Returns the time of a copy between device and host, alone on the link in its direction; infinite without a link.
  double getHostCopySeconds(double bytes) const;

  /// Bytes from which a bucket over `parts` gains less than 2 % by growing; at least 4 MiB.
  uint64_t getBucketBytes(llvm::ArrayRef<AxisPart> parts) const;

  /// The size of buckets in which `total` bytes are exchanged while the rank computes what is in the next one: what
  /// begins when all is computed is the last bucket, and each one has to start. With a seconds for a start and b
  /// bytes per second that is least, total / size * a + size / b, for sqrt(total * a * b) bytes; at most the above, at
  /// least 4 MiB.
  uint64_t getBucketBytes(CollectiveKind kind, llvm::ArrayRef<AxisPart> parts, uint64_t total) const;

  /// The innermost links that join all ranks of the group.
  const LinkClass& getLink(llvm::ArrayRef<AxisPart> parts) const;

  const Topology& getTopology() const { return topology; }
  llvm::ArrayRef<int64_t> getMesh() const { return mesh; }

 private:
  bool joinsSamePlaces(llvm::ArrayRef<AxisPart> parts, const LinkClass& link) const;
  void splitPart(const AxisPart& part, const LinkClass& outer, AxisParts& inside, AxisParts& across) const;
  double getHierarchicalSeconds(CollectiveKind kind, llvm::ArrayRef<AxisPart> parts, uint64_t bytes) const;

  Topology topology;
  MeshSizes mesh;
};

}  // namespace mlir::sgd

#endif
