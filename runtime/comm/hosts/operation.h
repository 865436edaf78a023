// A state machine of messages: a collective between hosts, one end of a channel.
#pragma once

#include <cstdint>

#include "runtime/comm/control/awaited_peers.h"

namespace sgd::comm {

// The outcome of a step. kComputes: the operation needs Compute before it can go on.
enum class Advance : uint8_t { kIdle, kMoved, kComputes };

// A later step outweighs an earlier one.
inline Advance Join(Advance a, Advance b) { return a > b ? a : b; }

// All but Compute run under the lock of ProgressEngine.
class Operation {
 public:
  static constexpr int64_t kNoLimit = INT64_MAX;

  virtual ~Operation() = default;

  // Sends, posts and takes messages as far as that can be done now. Touches no tensor for longer than a message's
  // address takes.
  virtual Advance Step() = 0;

  // The work on memory that Step asked for: reductions and copies of one message. Runs without the lock; until it has
  // returned, nobody calls Step or AppendAwaited.
  virtual void Compute() {}

  // Whether it must make progress though no thread waits for it.
  virtual bool IsInFlight() const = 0;

  // The peers without which it cannot go on.
  virtual void AppendAwaited(AwaitedPeers* awaited) const = 0;

  // Ends it with an error where the job has ended or a deadline has passed. Called every millisecond; nanoseconds of
  // spin.h's clock.
  virtual void Check(int64_t /*now*/) {}

  // For how many nanoseconds the driver may sleep when no message comes: little while it waits for shared memory, whose
  // writers wake nobody here.
  virtual int64_t SleepLimit(int64_t /*now*/) const { return kNoLimit; }

 protected:
  // When it moved last.
  int64_t moved_at() const { return moved_at_; }

 private:
  friend class ProgressEngine;
  int64_t moved_at_ = 0;
  bool is_claimed_ = false;  // by the thread that computes
};

}  // namespace sgd::comm
