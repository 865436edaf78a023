// Writes checkpoints: aside, then renamed at once and complete, replacing one of the same step. An interrupted save
// leaves a folder that is never taken for a checkpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/checkpoint/sharded_file.h"
#include "runtime/comm/control/agreements.h"

namespace sgd::checkpoint {

// Every rank calls this with the same point and names, between two steps. Waits and errors as in WriteShardedFile. A
// compressed file is written beside one that is not, which then goes.
absl::Status Save(const std::string& directory, const TrainingPoint& point, const std::vector<LocalTensor>& state,
                  comm::Agreements& ranks, absl::Duration deadline, ZstdLevel level = kNotCompressed);

// The same of one process, which has the whole file of tensors in memory. Asks `poll` now and then, and gives up with
// its error. ResourceExhausted, before anything is written, where the disk has less room than that.
absl::StatusOr<StateFile> SaveImage(const std::string& directory, const TrainingPoint& point,
                                    std::span<const std::byte> image, ZstdLevel level,
                                    const std::function<absl::Status()>& poll);

// The parts of a save by several processes, each of which has a file in memory. Any of them, in any order: writes its
// file into the folder of step `step`, called `name`, or that and kCompressedSuffix. `total_bytes`: of all files before
// they are compressed, for the check of the room on the disk.
absl::StatusOr<StateFile> WriteStateOf(const std::string& directory, uint64_t step, const std::string& name,
                                       std::span<const std::byte> image, uint64_t total_bytes, ZstdLevel level,
                                       const std::function<absl::Status()>& poll);
// One of them, when all have: completes the checkpoint, whose files are `files`.
absl::Status Complete(const std::string& directory, const TrainingPoint& point, std::vector<StateFile> files);
// One of them, when none writes any more: removes what was written.
void Abandon(const std::string& directory, uint64_t step);

}  // namespace sgd::checkpoint
