// --topology: what this host has for ranks, and which rank would get what.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "tools/sgdrun/options.h"

namespace sgd::sgdrun {

// The text to print: cores, the devices that --device names with their links, network adapters, and the place of each
// local rank (-n, else one for each device). FailedPrecondition when this build or host has no such device.
absl::StatusOr<std::string> TopologyText(const Options& options);

}  // namespace sgd::sgdrun
