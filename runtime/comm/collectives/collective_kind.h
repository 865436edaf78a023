// The kinds of collectives, and of each what compiler and runtime derive the rest from: one row a kind. Depends on
// nothing, so that both halves read the very same rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace sgd::comm {

// Values equal those of program.fbs.
enum class CollectiveKind : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kPermute,
  kBroadcast,
  kGatherRange
};

// How an operand's target follows from its source, with n ranks in the group.
enum class TargetForm : uint8_t {
  kSame,       // of the source's shape
  kGathered,   // n times as large along one dimension
  kScattered,  // an nth part of one dimension
  kExchanged,  // an nth part of one dimension, n times as large along another or the same
  kRange       // a TileRange of the dimension of which the group's sources are tiles
};

struct CollectiveTraits {
  CollectiveKind kind;
  const char* name;
  TargetForm target;
  bool reduces;
  // How often a ring of the group's ranks is gone around, n - 1 messages each time, each of an nth part; 0 where ranks
  // send to each other directly, at once.
  uint32_t ring_passes;
};

inline constexpr CollectiveTraits kCollectives[] = {
    {CollectiveKind::kAllReduce, "all_reduce", TargetForm::kSame, /*reduces=*/true, /*ring_passes=*/2},
    {CollectiveKind::kAllGather, "all_gather", TargetForm::kGathered, false, 1},
    {CollectiveKind::kReduceScatter, "reduce_scatter", TargetForm::kScattered, true, 1},
    {CollectiveKind::kAllToAll, "all_to_all", TargetForm::kExchanged, false, 1},
    {CollectiveKind::kPermute, "permute", TargetForm::kSame, false, 0},
    {CollectiveKind::kBroadcast, "broadcast", TargetForm::kSame, false, 1},
    {CollectiveKind::kGatherRange, "gather_range", TargetForm::kRange, false, 0},
};

constexpr const CollectiveTraits& TraitsOf(CollectiveKind kind) { return kCollectives[static_cast<size_t>(kind)]; }

constexpr bool AreInOrder() {
  for (size_t i = 0; i < std::size(kCollectives); ++i) {
    if (kCollectives[i].kind != static_cast<CollectiveKind>(i)) return false;
  }
  return true;
}
static_assert(AreInOrder());

constexpr const char* CollectiveName(CollectiveKind kind) { return TraitsOf(kind).name; }

}  // namespace sgd::comm
