// Maximum flow by Dinic's algorithm. https://en.wikipedia.org/wiki/Dinic%27s_algorithm
#include "passes/time/sequential/minimum_cut.h"

#include <algorithm>

using namespace mlir::sgd;

static constexpr unsigned kUnreached = UINT32_MAX;

unsigned MinimumCut::addNode() {
  out.emplace_back();
  return static_cast<unsigned>(out.size() - 1);
}

void MinimumCut::addEdge(unsigned from, unsigned to, int64_t capacity) {
  out[from].push_back(static_cast<unsigned>(edges.size()));
  edges.push_back({to, capacity});
  out[to].push_back(static_cast<unsigned>(edges.size()));
  edges.push_back({from, 0});
}

bool MinimumCut::findLevels() {
  levels.assign(out.size(), kUnreached);
  std::vector<unsigned> queue{kSource};
  levels[kSource] = 0;
  for (size_t next = 0; next < queue.size(); ++next)
    for (unsigned edge : out[queue[next]]) {
      unsigned to = edges[edge].to;
      if (edges[edge].left == 0 || levels[to] != kUnreached) continue;
      levels[to] = levels[queue[next]] + 1;
      queue.push_back(to);
    }
  return levels[kSink] != kUnreached;
}

int64_t MinimumCut::push() {
  // One path along the levels, without recursion: chains of ops are long.
  std::vector<unsigned> path;
  unsigned node = kSource;
  while (node != kSink) {
    unsigned& next = nextEdges[node];
    while (next < out[node].size()) {
      const Edge& edge = edges[out[node][next]];
      if (edge.left > 0 && levels[edge.to] == levels[node] + 1) break;
      ++next;
    }
    if (next < out[node].size()) {
      path.push_back(out[node][next]);
      node = edges[path.back()].to;
      continue;
    }
    if (path.empty()) return 0;
    node = edges[path.back() ^ 1].to;
    path.pop_back();
    ++nextEdges[node];
  }
  int64_t flow = kInfinite;
  for (unsigned edge : path) flow = std::min(flow, edges[edge].left);
  for (unsigned edge : path) {
    edges[edge].left -= flow;
    edges[edge ^ 1].left += flow;
  }
  return flow;
}

std::vector<bool> MinimumCut::getSinkSide() {
  while (findLevels()) {
    nextEdges.assign(out.size(), 0);
    while (push() > 0) continue;
  }
  // Nodes that still reach the sink.
  std::vector<bool> isSinkSide(out.size(), false);
  std::vector<unsigned> queue{kSink};
  isSinkSide[kSink] = true;
  for (size_t next = 0; next < queue.size(); ++next)
    for (unsigned edge : out[queue[next]]) {
      unsigned from = edges[edge].to;
      if (edges[edge ^ 1].left == 0 || isSinkSide[from]) continue;
      isSinkSide[from] = true;
      queue.push_back(from);
    }
  return isSinkSide;
}
