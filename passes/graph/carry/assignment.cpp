// Tries everything: there are eight candidates at most.
#include "passes/graph/carry/assignment.h"

#include <algorithm>

using namespace mlir::sgd;

namespace {

class Search {
 public:
  Search(unsigned numFrom, const std::vector<CarryEdge>& edges) : byFrom(numFrom) {
    for (const CarryEdge& edge : edges) byFrom[edge.from].push_back(edge);
  }

  CarryAssignment run() {
    place(0);
    best.isUnique = count == 1;
    return std::move(best);
  }

 private:
  void place(unsigned from) {
    if (from == byFrom.size()) return finish();
    for (const CarryEdge& edge : byFrom[from]) {
      if (taken & (1u << edge.to)) continue;
      taken |= 1u << edge.to;
      chosen.push_back(edge);
      add(edge.score, 1);
      place(from + 1);
      add(edge.score, -1);
      chosen.pop_back();
      taken &= ~(1u << edge.to);
    }
    place(from + 1);
  }

  void add(const CarryScore& score, int sign) {
    for (size_t i = 0; i < score.size(); ++i) total[i] += sign * static_cast<int64_t>(score[i]);
  }

  void finish() {
    if (count > 0 && total < bestTotal) return;
    count = count > 0 && total == bestTotal ? count + 1 : 1;
    bestTotal = total;
    best.edges = chosen;
  }

  std::vector<std::vector<CarryEdge>> byFrom;
  uint32_t taken = 0;  // of the other side
  std::vector<CarryEdge> chosen;
  std::array<int64_t, std::tuple_size_v<CarryScore>> total = {}, bestTotal = {};
  uint64_t count = 0;  // assignments that are as good as the best
  CarryAssignment best;
};

}  // namespace

std::optional<CarryAssignment> mlir::sgd::findBestAssignment(unsigned numFrom, unsigned numTo,
                                                             const std::vector<CarryEdge>& edges) {
  if (numFrom > kMostCandidates || numTo > kMostCandidates) return std::nullopt;
  return Search(numFrom, edges).run();
}
