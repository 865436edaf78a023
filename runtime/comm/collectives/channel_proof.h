// Proves that the programs of a pipeline's stages fit together: executes their sends and receives, and nothing else,
// with the channels' depths. Sends and receives wait only for each other, and each channel has one writer and one
// reader, so that whether all programs end does not depend on who is faster (Kahn networks): one execution decides it.
// All ranks of a stage run one program, so one rank per stage stands for all, and collectives, which are among the
// ranks of a stage, change nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace sgd::comm {

// As the schema's.
struct ChannelShape {
  uint32_t from_stage = 0;
  uint32_t to_stage = 0;
  uint32_t depth = 1;
};

// A send, a receive, or a loop around the `body` events that follow it.
struct ChannelEvent {
  enum class Kind : uint8_t { kSend, kReceive, kLoop };
  Kind kind = Kind::kSend;
  uint32_t channel = 0;  // of a send or receive
  uint64_t bytes = 0;    // of a send's or receive's message
  uint64_t trips = 0;    // of a loop
  uint64_t body = 0;     // of a loop: how many events
  uint64_t id = 0;       // of a send or receive, for StageEvents::describe
};

// The sends and receives of one stage's program, in order; stages are numbered by their positions.
struct StageEvents {
  std::vector<ChannelEvent> events;
  std::function<std::string(uint64_t id)> describe;  // "instruction 7 (send) at model.py:12:3"
};

// A step has no more sends and receives than this, all stages together; that bounds the time of a proof.
inline constexpr uint64_t kMaxMessagesOfStep = uint64_t{1} << 24;

// InvalidArgument naming stages, channels and the ops where: a stage uses a channel that is not its own or does not
// exist; a message is received in another size than it was sent in; programs wait for each other in a circle, or for
// what never comes; a message is never received. ResourceExhausted beyond kMaxMessagesOfStep.
absl::Status ProveChannels(absl::Span<const ChannelShape> channels, absl::Span<const StageEvents> stages);

}  // namespace sgd::comm
