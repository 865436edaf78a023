// A total order of numbered nodes that stays topological while nodes merge and edges are added. Plain C++, no IR; who
// uses it knows the edges.
#ifndef SGD_PASSES_KERNELS_ORDER_TOPOLOGICAL_ORDER_H
#define SGD_PASSES_KERNELS_ORDER_TOPOLOGICAL_ORDER_H

#include <cstdint>
#include <vector>

#include "llvm/ADT/ArrayRef.h"

namespace mlir::sgd {

/// While every edge leads from a lower to a higher node, a search for a path need not look at nodes behind its goal.
/// When it has met only nodes between its start and its goal, and not the goal, start and goal may become one in the
/// goal's place, or the goal lead to the start: the nodes met then go behind the goal (Pearce and Kelly, "A dynamic
/// topological sort algorithm for directed acyclic graphs", 2006, with labels in gaps instead of a dense order).
class TopologicalOrder {
 public:
  /// Nodes 0 to size - 1, in this order.
  explicit TopologicalOrder(unsigned size);

  bool isBefore(unsigned a, unsigned b) const { return labels[a] < labels[b]; }

  /// Moves `nodes`, which keep their order among themselves, right behind `goal`, which is none of them.
  void moveBehind(llvm::MutableArrayRef<unsigned> nodes, unsigned goal);

 private:
  void relabel();

  static constexpr unsigned kEnd = ~0u;
  std::vector<uint64_t> labels;
  std::vector<unsigned> next, previous;  // kEnd: none
  unsigned first = kEnd;
};

}  // namespace mlir::sgd

#endif
