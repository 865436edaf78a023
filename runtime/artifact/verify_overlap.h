// The check of collectives that are split: what runs between the start and the end of one leaves its
// memory alone.
#pragma once

#include "absl/status/status.h"
#include "runtime/artifact/program_generated.h"

namespace sgd::artifact {

// InvalidArgument, naming the instruction, unless every started collective is ended exactly once and
// later, and in between no instruction touches its targets or writes its sources. What a kernel
// writes is taken from Launch.outputs. Each instruction has passed VerifyOperation.
absl::Status VerifyOverlap(const Program& program);

}  // namespace sgd::artifact
