// Checkpoints: folders DIR/step-0000000020 with state.safetensors (global tensors by name), or several files of pieces
// of them, and manifest.json. Since tensors are global, a checkpoint may be loaded on another mesh than it was saved
// from.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/data/safetensors.h"

namespace sgd::checkpoint {

// A checkpoint on disk.
struct Checkpoint {
  std::string path;
  TrainingPoint point;
  data::SafetensorsFile state;
  std::vector<StateFile> files = {};          // of the state
  std::vector<std::string> passed_over = {};  // newer ones that are damaged, and how: a line each
};

// How much of the files of tensors is verified: their sizes and headers; that their bytes are those which were written;
// or, of compressed ones, also that they decompress to those which were saved.
enum class Depth { kSizes, kStored, kDecompressed };

// `directory` is a checkpoint, or a folder of checkpoints, of which it opens the newest (most steps) that is whole,
// with `below` of those of fewer steps. Errors begin with the path: NotFound without any checkpoint; InvalidArgument or
// DataLoss when the checkpoint, or each of the folder, is truncated or corrupt, saying how. Checks every byte before it
// returns, or with kSizes leaves that to VerifyFiles.
absl::StatusOr<Checkpoint> OpenCheckpoint(const std::string& directory, Depth depth = Depth::kStored,
                                          std::optional<uint64_t> below = std::nullopt);

// Whether a folder is a checkpoint, and not a folder of some.
bool IsCheckpoint(const std::string& directory);

// Verifies that the bytes of those of a checkpoint's files that `is_chosen(file, files)` are those which were written.
// Errors as of OpenCheckpoint.
absl::Status VerifyFiles(const std::string& checkpoint,
                         const std::function<bool(uint32_t file, uint32_t files)>& is_chosen);

// A folder of a checkpoint, whole or not.
struct Listed {
  std::string path;
  uint64_t step = 0;
};
// All of a folder with checkpoints, newest first, or the one that `directory` is; what interrupted saves have left is
// not among them. The system's errors.
absl::StatusOr<std::vector<Listed>> List(const std::string& directory);

// One checkpoint: no folder of several. Errors as of OpenCheckpoint.
absl::StatusOr<Checkpoint> OpenOne(const std::string& path, Depth depth = Depth::kStored);

// Steps done by the newest checkpoint of a folder, whole or damaged; nothing where there is none.
std::optional<uint64_t> NewestStep(const std::string& directory);

// Whether a run that resumes from `resumed` (a path as OpenCheckpoint's; empty for a new run) may save into `directory`
// without mixing its checkpoints with those of another: FailedPrecondition, with what to do, for a new run where there
// are checkpoints, for one that resumes from elsewhere, and for one that resumes from a checkpoint that is not the
// last.
absl::Status CheckContinues(const std::string& directory, const std::string& resumed);

// Makes `directory` if need be and checks that checkpoints can be written there.
absl::Status CheckWritable(const std::string& directory);

// Removes what interrupted runs have left in `directory`, whose lock the caller holds: unfinished checkpoints, and old
// ones that were about to be removed.
void RemoveUnfinished(const std::string& directory);

// Gives the checkpoint after `steps_done` steps a name under which it is never gone on from, and returns its path;
// empty where there is no such checkpoint.
absl::StatusOr<std::string> SetAside(const std::string& directory, uint64_t steps_done);

// Which checkpoints stay. The newest one always does.
struct KeepPolicy {
  uint64_t last = 0;   // how many of the newest
  uint64_t every = 0;  // those after a multiple of so many steps; 0: none
  // The one with the best mean of this name in the last evaluation before it: the largest, or the smallest of a loss, a
  // perplexity or an error. Empty: none.
  std::string best = {};

  bool keeps_all() const { return last == 0 && every == 0 && best.empty(); }
};

// Removes all complete checkpoints that the policy does not keep, none if it keeps all; one that is half removed is
// never taken for a checkpoint. The system's errors.
absl::Status RemoveOthers(const std::string& directory, const KeepPolicy& policy);

}  // namespace sgd::checkpoint
