// Names of folders and files of checkpoints.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/str_format.h"

namespace sgd::checkpoint {

inline constexpr std::string_view kPrefix = "step-";  // of a checkpoint's folder
inline constexpr char kAsideSuffix[] = ".partial";    // of one that is not complete

inline std::string ManifestPath(const std::string& folder) { return folder + "/manifest.json"; }

// Of the folder of a checkpoint: "DIR/step-0000000020".
inline std::string CheckpointPath(const std::string& directory, uint64_t step) {
  return absl::StrFormat("%s/%s%010d", directory, kPrefix, step);
}

}  // namespace sgd::checkpoint
