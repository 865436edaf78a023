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

struct RunOptions {
  uint32_t threads = 1;          // compute threads of a rank
  bool nullKernels = false;      // kernels and products are not called: for plans that nobody vouches for
  unsigned timeoutSeconds = 60;  // of each wait for peers
  bool isEmulated = false;       // the artifact is for cuda:emulated
};

/// One step of program `main` of the artifact with these `bytes`. `inputs` has an entry for each of its inputs, padding
/// included. Returns an entry for each output. The error is that of the rank that failed first.
absl::StatusOr<std::vector<Shards>> runOnRanks(std::string bytes, const std::vector<Shards>& inputs,
                                               const RunOptions& options = {});

}  // namespace mlir::sgd::differential
