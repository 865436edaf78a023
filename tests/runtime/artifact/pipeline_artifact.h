// A hand-built pipeline of two stages, one rank each, for tests.
#pragma once

#include "runtime/artifact/writer.h"

namespace sgd::testing {

// Program "main", channels 0 (from stage 0 to 1, two places) and 1 (back, one place), messages of 16 bytes.
//   stage 0  input a f32[4] at position 0; three times: sends a; then receives b, which is output 0 and becomes a
//   stage 1  input c f32[4] at position 1; three times: receives t; then sends t; output 1 is c, unchanged
// So a stays as it is, by way of the other stage.
inline constexpr size_t kSendLoop = 0, kSend = 1, kReceiveBack = 2;     // instructions of stage 0
inline constexpr size_t kReceiveLoop = 0, kReceive = 1, kSendBack = 2;  // of stage 1
void FillPipeline(artifact::ArtifactWriter& writer);

}  // namespace sgd::testing
