// The check of what runs at the same time: between the start and the end of a collective its memory
// is left alone, and launches of a group need nothing of each other.
#pragma once

#include "absl/status/status.h"
#include "runtime/artifact/program_generated.h"

namespace sgd::artifact {

// InvalidArgument, naming the instruction, unless every started collective is ended exactly once and
// later, in between no instruction touches its targets or writes its sources, and no launch of a
// group writes memory that another one of it touches. The writes of a
// kernel are Launch.outputs. Each instruction has passed VerifyOperation.
absl::Status VerifyOverlap(const Program& program);

}  // namespace sgd::artifact
