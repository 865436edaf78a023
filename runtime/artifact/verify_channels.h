// Checks of pipelines: which programs each stage has, where mailboxes are, and single sends and receives. That all
// messages fit together is proven by runtime/comm/collectives/channel_proof.h.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "runtime/artifact/program_generated.h"
#include "runtime/artifact/verify_operation.h"

namespace sgd::artifact {

// There is a stage for each coordinate of the first mesh axis, or none; every name of a program stands once per stage;
// channels are from one stage to another and have places for messages; mailboxes of a stage are disjoint, inside of
// its window, and aligned to their counters.
absl::Status VerifyStages(const Artifact& root, const comm::Mesh& mesh);

// Memory that programs of `stage` may touch: the arenas of the stage, and the window before its mailboxes. -1: all.
VerifyContext ContextOf(const Artifact& root, const VerifyContext& all, int32_t stage);

// The channel exists, begins or ends at the program's stage, and the slice is a message of it.
absl::Status VerifySend(const VerifyContext& context, const Send& send);
absl::Status VerifyReceive(const VerifyContext& context, const Receive& receive);

// The proof of comm::ProveChannels for each program, over instructions and control flow that are verified. Messages in
// branches and in loops of unknown trips are refused: nobody could say how many there are.
absl::Status ProveMessages(const Artifact& root);

// Neither a group of a collective nor the sharding of a tensor is over the stage axis: other stages run other programs.
absl::Status VerifyOwnStage(const VerifyContext& context, const std::vector<comm::AxisRef>& axes);

}  // namespace sgd::artifact
