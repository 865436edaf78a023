// Domains of links begin at multiples of their size.
#include "passes/cost/message_cost.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir::sgd;

const LinkClass& mlir::sgd::getMessageLink(const Topology& topology, int64_t stageRanks, int64_t from, int64_t to) {
  for (const LinkClass& link : topology.links) {
    if (link.ranks == 0) return link;
    // Ranks that are one such size apart are alike.
    bool joinsAll = llvm::all_of(llvm::seq<int64_t>(0, std::min(stageRanks, link.ranks)), [&](int64_t rank) {
      return (from * stageRanks + rank) / link.ranks == (to * stageRanks + rank) / link.ranks;
    });
    if (joinsAll) return link;
  }
  return topology.links.back();
}

static int64_t getStageRanks(const CostModel& cost) {
  int64_t ranks = 1;
  for (int64_t size : cost.getMesh().drop_front()) ranks *= size;
  return ranks;
}

double mlir::sgd::getMessageSeconds(const CostModel& cost, int64_t from, int64_t to, double bytes) {
  const int64_t stageRanks = getStageRanks(cost);
  const Topology& topology = cost.getTopology();
  const LinkClass& link = getMessageLink(topology, stageRanks, from, to);
  // Peers are as many ranks apart as their stages.
  bool toSamePlace = (to - from) * stageRanks % topology.getInnerRanks(link) == 0;
  return link.latency + bytes / link.getShare(toSamePlace);
}

double mlir::sgd::getTransitSeconds(const CostModel& cost, int64_t from, int64_t to, double bytes) {
  const LinkClass& link = getMessageLink(cost.getTopology(), getStageRanks(cost), from, to);
  return sharesMemory(link) ? link.latency : getMessageSeconds(cost, from, to, bytes);
}

bool mlir::sgd::sharesMemory(const LinkClass& link) { return llvm::is_contained(link.algorithms, Algorithm::Direct); }
