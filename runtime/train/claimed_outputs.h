// Locks the outputs of a run while it lasts: --save folders and --outputs files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/data/run_lock.h"
#include "runtime/train/run_options.h"

namespace sgd::train {

class ClaimedOutputs {
 public:
  ClaimedOutputs() = default;

  // Makes the folder of --save, locks it and the file of --outputs, checks that the folder's checkpoints are those that
  // are resumed, and removes what interrupted runs have left there. Unavailable when another run holds one of them,
  // naming it.
  static absl::StatusOr<ClaimedOutputs> Claim(const RunOptions& options);

  // Removes what has not been finished, as the process is about to end at once. Any thread.
  void CleanUp() const;

  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::vector<data::RunLock> locks_;
  std::vector<std::string> notes_;
  std::string save_;
  std::vector<std::string> files_;
};

}  // namespace sgd::train
