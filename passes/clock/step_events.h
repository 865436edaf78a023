// A step as the clock executes it: what the streams of each stage's ranks do. No IR.
#ifndef SGD_PASSES_CLOCK_STEP_EVENTS_H
#define SGD_PASSES_CLOCK_STEP_EVENTS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mlir::sgd {

/// The next event of a stream of a stage's ranks, or a loop around the `body` events that follow it. A stream executes
/// its events in order. A wait ends when the last record of its event, in the order of all events, is
/// done.
struct StepEvent {
  /// Send and Receive copy to and from the places of a channel, by ranks that do so themselves; a stream of messages
  /// sends (SendPosted) what the other side has posted (Post).
  enum class Kind : uint8_t { Compute, Collective, Send, Receive, SendPosted, Post, Record, Wait, Loop };

  Kind kind = Kind::Compute;
  uint32_t stream = 0;     ///< of all but loops, which all streams go through
  uint32_t index = 0;      ///< the instruction or task, for intervals
  uint32_t number = 0;     ///< of a record or wait: the event; of a message: the channel
  uint32_t link = 0;       ///< of collectives and messages: what they take
  double seconds = 0;      ///< of computing; of collectives and messages on the link
  double copySeconds = 0;  ///< of sends and receives: that the stream itself is busy
  uint64_t sentBytes = 0;
  uint64_t trips = 0;  ///< of a loop
  size_t body = 0;     ///< of a loop: how many events
};

/// Which waits a stream's records end.
enum class StreamKind : uint8_t { Compute, Collectives, HostCopies, Messages };

/// The program of one stage, or of all ranks where there are none. Stream 0 computes.
struct StageProgram {
  std::vector<StepEvent> events;
  std::vector<StreamKind> streams = {StreamKind::Compute};
  std::vector<uint32_t> eventStream;  ///< by number: the stream that records it
};

/// A FIFO of `depth` messages between two stages.
struct StepChannel {
  uint64_t depth = 1;
};

}  // namespace mlir::sgd

#endif
