// Runs an artifact on all its ranks in this process, ranks being threads over one shared memory segment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace mlir::sgd::differential {

/// The bytes of one tensor's shard on each rank.
using Shards = std::vector<std::string>;

/// One step of program `main` of the artifact with these `bytes`. `inputs` has an entry for each of its inputs, padding
/// included. Returns an entry for each output. `threads` is the number of compute threads of a rank. The error is that
/// of the rank that failed first.
absl::StatusOr<std::vector<Shards>> runOnRanks(std::string bytes, const std::vector<Shards>& inputs, uint32_t threads);

}  // namespace mlir::sgd::differential
