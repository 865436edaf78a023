// Runs an artifact on all its ranks in this process. Ranks are threads, hosts are segments of shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace mlir::sgd::differential {

/// The bytes of tensors on one rank, inputs or outputs of the whole program, padding included; empty where another
/// stage has them.
using RankBytes = std::vector<std::string>;

struct RunOptions {
  uint32_t threads = 1;              // compute threads of a rank
  bool nullKernels = false;          // kernels and products are not called: for plans that nobody vouches for
  unsigned timeoutSeconds = 60;      // of each wait for peers
  bool isEmulated = false;           // the artifact is for cuda:emulated
  std::vector<uint32_t> hosts = {};  // by rank: ranks with equal numbers share memory; empty: all do
  std::optional<std::string> plan = std::nullopt;  // of an artifact with several
};

/// One step of program `main` of the artifact, with inputs and outputs by rank. The error is that of the rank that
/// failed first.
absl::StatusOr<std::vector<RankBytes>> runOnRanks(std::string bytes, const std::vector<RankBytes>& inputs,
                                                  const RunOptions& options = {});

}  // namespace mlir::sgd::differential
