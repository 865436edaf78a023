// Times are in bytes that a network carries meanwhile, which is about the same number for slow networks and fast ones.
#include "runtime/comm/hosts/host_forms.h"

#include <algorithm>
#include <bit>

namespace sgd::comm {
namespace {

// From a rank that sends to one that has been woken and reads. TCP on Ethernet of 10 Gbit/s: 25 us; InfiniBand of 200
// Gbit/s: 2 us.
constexpr uint64_t kStep = 32 << 10;
// The cost of one more message for sender and receiver, in bytes.
constexpr uint64_t kMessage = 8 << 10;
// Doubling keeps what it has reduced in one piece for each step.
constexpr uint64_t kMostDoubled = 1 << 20;

}  // namespace

bool CanDouble(const GroupNodes& nodes) {
  const bool are_equal =
      std::ranges::all_of(nodes.nodes, [&](const TreeNode& node) { return node.count == nodes.nodes[0].count; });
  if (!are_equal || !std::has_single_bit(nodes.nodes.size())) return false;
  return std::ranges::all_of(nodes.nodes, [&](const TreeNode& node) { return nodes.CountOf(node.host) == 1; });
}

AllReduceForm ChooseAllReduce(const AllReduceSizes& sizes, uint32_t hosts, bool can_double) {
  const uint64_t others = hosts - 1, rounds = std::bit_width(others);
  const uint64_t swap = kStep + others * (kMessage + sizes.values);
  const uint64_t doubling = rounds * (kStep + kMessage) + sizes.values + (rounds - 1) * sizes.accumulators;
  const uint64_t parts = 2 * kStep + 2 * others * kMessage + sizes.parts;
  if (swap <= parts && (swap <= doubling || !can_double)) return AllReduceForm::kSwap;
  const bool fits = can_double && sizes.accumulators <= kMostDoubled;
  return fits && doubling <= parts ? AllReduceForm::kDoubling : AllReduceForm::kParts;
}

BroadcastForm ChooseBroadcast(uint64_t bytes, uint32_t hosts) {
  const uint64_t others = hosts - 1, rounds = std::bit_width(others);
  const uint64_t direct = kStep + others * (kMessage + bytes);
  const uint64_t tree = rounds * (kStep + kMessage + bytes);
  const uint64_t spread = 2 * kStep + 2 * others * kMessage + bytes;
  if (direct <= tree && direct <= spread) return BroadcastForm::kDirect;
  return tree <= spread ? BroadcastForm::kTree : BroadcastForm::kSpread;
}

}  // namespace sgd::comm
