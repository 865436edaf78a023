// Loss and step time of runs as SVG.
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

// A panel for the losses and one for the times of steps over their numbers, with axes, a legend, and dashed lines where
// a run was resumed or lost a rank. InvalidArgument when no run has a step.
absl::StatusOr<std::string> DrawRuns(const std::vector<PlottedRun>& runs);

// Round numbers that cover [low, high], low < high, in some five steps.
std::vector<double> AxisTicks(double low, double high);

}  // namespace sgd::watch
