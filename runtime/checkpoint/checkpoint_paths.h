// Names of folders and files of checkpoints.
#pragma once

#include <string>
#include <string_view>

namespace sgd::checkpoint {

inline constexpr std::string_view kPrefix = "step-";  // of a checkpoint's folder
inline constexpr char kAsideSuffix[] = ".partial";    // of one that is not complete

inline std::string ManifestPath(const std::string& folder) { return folder + "/manifest.json"; }

}  // namespace sgd::checkpoint
