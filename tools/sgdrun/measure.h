// --measure-topology: times devices and links on all ranks; the first one writes the file.
#pragma once

#include "absl/status/status.h"
#include "runtime/train/rank_device.h"
#include "tools/sgdrun/options.h"

namespace sgd::sgdrun {

// Starts or joins the ranks as a run does. InvalidArgument for one rank, which has no links; errors as of
// process::Launch.
absl::Status MeasureTopology(const Options& options, const train::OpenCpu& open_cpu);

}  // namespace sgd::sgdrun
