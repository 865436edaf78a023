// A file beside an artifact that keeps which algorithms were chosen for it on one kind of device.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "runtime/artifact/reader.h"
#include "runtime/device/algorithm_choices.h"

namespace sgd::exec {

// The file belongs to a plan of an artifact's bytes and to a device with its libraries; with others it is ignored. Its
// contents are hints: thunks have their library check a choice before they use it.
class AlgorithmCache {
 public:
  // `stage`: of the rank that chooses; -1 where it chooses for all. `fingerprint`: Device::fingerprint().
  AlgorithmCache(const artifact::ArtifactFile& file, int32_t stage, const std::string& fingerprint,
                 device::AlgorithmChoices& choices);

  // model.sgda on an NVIDIA H200 has model.sgda.nvidia-h200.algorithms, its stage 1
  // model.sgda.nvidia-h200.stage1.algorithms. The plan's name follows model.sgda where the artifact has several.
  const std::string& path() const { return path_; }

  // Adds the file's entries to the choices. NotFound without a file, InvalidArgument for one that is damaged or another
  // artifact's or device's, other errors of ReadCacheFile: then nothing is added.
  absl::Status Load();
  // Replaces the file when something was chosen since Load or the last Save. An error of the system, as for a read-only
  // folder, needs no more than a note: choices are then made again at the next start.
  absl::Status Save();

 private:
  std::string path_, identity_;
  device::AlgorithmChoices& choices_;
  uint64_t saved_ = 0;  // AlgorithmChoices::chosen() at the last Save
};

}  // namespace sgd::exec
