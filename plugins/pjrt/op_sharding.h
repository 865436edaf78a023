// Shardings of an artifact's tensors as xla.OpSharding, which JAX reads shardings from that the compiler has chosen.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/data/shard.h"

namespace sgd::pjrt {

// The serialized sharding of a tensor, from the shards of all ranks in order. Unimplemented for shards that JAX's
// arrays cannot have: of unequal size, or in several blocks. `summands` says which summand each rank holds of a value
// that is a sum over ranks; empty for other values.
absl::StatusOr<std::string> OpShardingOf(const std::vector<data::Shard>& shards, const std::vector<int64_t>& summands);

// The serialized sharding of a value that all ranks hold whole.
std::string ReplicatedSharding();

// The ranks that hold the summands of one value, by group; empty without summands.
std::vector<std::vector<uint32_t>> SummandGroups(const std::vector<data::Shard>& shards,
                                                 const std::vector<int64_t>& summands);

}  // namespace sgd::pjrt
