// The forms that a collective between hosts may take: few steps for what is small, few bytes for what is large. The one
// with the least estimated time is taken; the estimate rests on sizes and on which ranks are on which host, so that all
// ranks take the same one. All give the same bits.
#pragma once

#include <cstdint>

#include "runtime/comm/hosts/group_nodes.h"

namespace sgd::comm {

enum class AllReduceForm : uint8_t {
  kSwap,      // every host sends its values to every other, and all reduce: one step
  kDoubling,  // hosts at a distance of 1, 2, 4, ... exchange what they have reduced so far: log2(hosts) steps
  kParts,     // each rank reduces a part and sends its result to the other hosts: two steps, the fewest bytes
};

enum class BroadcastForm : uint8_t {
  kDirect,  // the root sends to every host
  kTree,    // so does every host that has the message: log2(hosts) steps
  kSpread,  // the root sends another part to each host, which sends it to the others: two steps, each byte once
};

// Bytes of one AllReduce that the host with most of them sends, in each form to one other host at a time.
struct AllReduceSizes {
  uint64_t values = 0;        // of all its nodes of the tree, of the whole operand
  uint64_t accumulators = 0;  // of one node
  uint64_t parts = 0;         // to all other hosts, with results, where each rank reduces a part
};

AllReduceForm ChooseAllReduce(const AllReduceSizes& sizes, uint32_t hosts, bool can_double);
BroadcastForm ChooseBroadcast(uint64_t bytes, uint32_t hosts);

// Whether hosts may join what they have reduced in the order of doubling: one node for each, a power of two of them, of
// as many positions each.
bool CanDouble(const GroupNodes& nodes);

}  // namespace sgd::comm
