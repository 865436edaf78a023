// Checkpoints: folders DIR/step-0000000020 with state.safetensors (global tensors by name) and
// manifest.json. Since tensors are global, a checkpoint may be loaded on another mesh than it was
// saved from.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/checkpoint/sharded_file.h"
#include "runtime/comm/control.h"
#include "runtime/data/safetensors.h"

namespace sgd::checkpoint {

// A checkpoint on disk, all of it verified.
struct Checkpoint {
  std::string path;
  TrainingPoint point;
  data::SafetensorsFile state;
};

// `directory` is a checkpoint or a folder of checkpoints, whose newest (most steps) is taken;
// folders without a manifest were never complete and are passed over. Errors begin with the path:
// NotFound without any checkpoint; InvalidArgument or DataLoss when the one chosen is truncated or
// corrupt. Nothing is returned before every byte is checked.
absl::StatusOr<Checkpoint> OpenCheckpoint(const std::string& directory);

// Makes `directory` if need be and checks that checkpoints can be written there.
absl::Status CheckWritable(const std::string& directory);

// Every rank calls this with the same point and names. The checkpoint appears under DIR at once and
// complete, replacing one of the same step; an interrupted Save leaves a folder that is never taken
// for a checkpoint. Waits and errors as in WriteShardedFile.
absl::Status Save(const std::string& directory, const TrainingPoint& point, const std::vector<LocalTensor>& state,
                  comm::Control& control, absl::Duration deadline);

}  // namespace sgd::checkpoint
