// Values of inputs before the first step: this rank's shards of files' tensors, or generated values.
#pragma once

#include "absl/status/status.h"
#include "runtime/device/device.h"
#include "runtime/exec/executor.h"
#include "runtime/train/job.h"

namespace sgd::train {

// Fills the executor's inputs that job.initial names, on all threads of the device; in a benchmark
// the others get random values. DataLoss when a file has become shorter since it was opened, and the
// system's error when it cannot be read.
absl::Status FillInitialInputs(const Job& job, const exec::Executor& executor, device::Device& device);

}  // namespace sgd::train
