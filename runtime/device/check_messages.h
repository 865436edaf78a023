// Executes the stream plans of all stages of a pipeline together, and finds where ranks would wait endlessly or would
// give their library calls that do not match.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/artifact/program_generated.h"
#include "runtime/device/stream_plan.h"

namespace sgd::device {

// A program of one stage, and its plan.
struct StageStreams {
  const artifact::Program* program;
  const StreamPlan* plan;
};

// One rank per stage, in the order of stages: each stream runs its work in order, waits for events, and the next send
// of a link ends together with the post that is next on the other side (a library may hold a send until it is
// received). Collectives are among the ranks of a stage, and end. The host gives a part of the program without waiting,
// and stops where it walks a loop until compute has come there.
//
// InvalidArgument naming stages, instructions and channels where the two ends of a link do not send and receive the
// same messages in the same order, where all wait, or where one side of a link is left over.
absl::Status CheckMessages(absl::Span<const StageStreams> stages);

}  // namespace sgd::device
