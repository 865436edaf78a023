// Loss, step time and throughput of runs as SVG.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/watch/log_file.h"

namespace sgd::watch {

struct PlottedRun {
  std::string name;  // for the legend
  LogContent log;
};

// Panels for the losses, the times of steps and the steps per second over the numbers of steps, with axes, a legend,
// and dashed lines where a run was resumed or lost a rank. InvalidArgument when no run has a step.
absl::StatusOr<std::string> DrawRuns(const std::vector<PlottedRun>& runs);

}  // namespace sgd::watch
