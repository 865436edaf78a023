// Shardings of an artifact's tensors as xla.OpSharding, which JAX reads shardings from that the compiler has chosen.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/data/shard.h"

namespace sgd::pjrt {

// The serialized sharding of a tensor, from the shards of all ranks in order. Unimplemented for shards that JAX's
// arrays cannot have: of unequal size, or in several blocks. A tensor with summands is the unreduced array that is
// their sum; each rank holds one of them.
absl::StatusOr<std::string> OpShardingOf(const std::vector<data::Shard>& shards);

// The serialized sharding of a value that all ranks hold whole.
std::string ReplicatedSharding();

}  // namespace sgd::pjrt
