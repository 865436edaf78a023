// The best pairing of a few candidates with a few others, and whether it is the only best one. Plain C++ without IR.
#ifndef SGD_PASSES_GRAPH_CARRY_ASSIGNMENT_H
#define SGD_PASSES_GRAPH_CARRY_ASSIGNMENT_H

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace mlir::sgd {

/// How much speaks for a pair: counts of witnesses, the strongest kind first. One witness of a kind outweighs any
/// number of weaker ones.
using CarryScore = std::array<uint32_t, 5>;

struct CarryEdge {
  unsigned from, to;  // positions among the candidates of each side
  CarryScore score;   // not all zero
};

/// More candidates on one side than this are not searched.
inline constexpr unsigned kMostCandidates = 8;

struct CarryAssignment {
  std::vector<CarryEdge> edges;  // by `from`; each candidate stands in one at most
  bool isUnique = false;
};

/// The assignment whose scores sum up to the most. nullopt for too many candidates.
std::optional<CarryAssignment> findBestAssignment(unsigned numFrom, unsigned numTo,
                                                  const std::vector<CarryEdge>& edges);

}  // namespace mlir::sgd

#endif
