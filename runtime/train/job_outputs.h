// Names of a job's outputs, and whether its files can be written.
#pragma once

#include "absl/status/status.h"
#include "runtime/train/job.h"

namespace sgd::train {

// Sets job.output_names and job.loss. InvalidArgument when two names are equal or --loss names no scalar output; notes
// when the loss was chosen among several.
absl::Status ChooseOutputs(Job& job);

// Checks that --outputs and --save can be written; leaves no trace but the folder of --save.
absl::Status CheckOutputs(const Job& job);

}  // namespace sgd::train
