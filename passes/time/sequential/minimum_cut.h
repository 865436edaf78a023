// The cheapest way to cut a directed graph between a source and a sink; plain C++ without IR.
#ifndef SGD_PASSES_TIME_SEQUENTIAL_MINIMUM_CUT_H
#define SGD_PASSES_TIME_SEQUENTIAL_MINIMUM_CUT_H

#include <cstdint>
#include <vector>

namespace mlir::sgd {

class MinimumCut {
 public:
  static constexpr unsigned kSource = 0, kSink = 1;
  static constexpr int64_t kInfinite = INT64_MAX / 4;

  unsigned addNode();
  void addEdge(unsigned from, unsigned to, int64_t capacity);

  /// By node, whether it is on the sink's side of the cheapest cut; of several as cheap, the one with the fewest nodes
  /// there. Paths of infinite edges from source to sink are no cut, which callers exclude.
  std::vector<bool> getSinkSide();

 private:
  struct Edge {
    unsigned to;
    int64_t left;  // of its capacity; edges come in pairs, forward and back
  };

  bool findLevels();
  int64_t push();

  std::vector<Edge> edges;
  std::vector<std::vector<unsigned>> out{2};  // edges by node
  std::vector<unsigned> levels, nextEdges;
};

}  // namespace mlir::sgd

#endif
