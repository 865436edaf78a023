// The interface through which ranks tell each other of themselves: agreements, barriers, failures and the job's end.
// No tensor goes through it: see communicator.h. It belongs to one rank and one thread uses it at a time; only Abort
// and RequestStop may be called from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "runtime/comm/control/agreements.h"
#include "runtime/comm/control/blame.h"

namespace sgd::comm {

// Its agreements are refused with FailedPrecondition while a collective is in flight.
class Control : public Agreements {
 public:
  // Agreements of the same ranks for another thread, which may use them beside this control and while collectives are
  // in flight. This control's own.
  virtual Agreements& beside() = 0;

  // The bytes of the ranks that give the same key as this one, in the order of ranks: for ranks of one host. All ranks
  // call it. What a rank gets does not grow with the job.
  struct Told {
    uint32_t rank = 0;
    std::string bytes;
  };
  virtual absl::StatusOr<std::vector<Told>> GatherAmong(std::string_view key, std::string_view bytes,
                                                        absl::Duration timeout);

  // Keeps this rank's bytes for the ranks that ask for them; all ranks call it once, before any of them asks.
  virtual absl::Status Offer(std::string_view bytes, absl::Duration timeout);
  // The bytes that `rank` has offered. Waits for rank 0 at most.
  virtual absl::StatusOr<std::string> OfferOf(uint32_t rank, absl::Duration timeout);

  // Notes that this rank waits, and for which ranks of the job, where others can see it: for waits that have lasted for
  // a moment. A rank has at most one wait of each kind. Any thread.
  virtual void NoteWait(WaitKind /*kind*/, const std::string& /*description*/, absl::Span<const uint32_t> /*awaited*/) {
  }
  virtual void EndWait(WaitKind /*kind*/) {}
  // When `own` has taken too long: the ranks at fault, wherever waits lead. Takes up to 3 seconds where ranks do not
  // answer. Nothing where ranks do not see each other's waits, or the job has ended meanwhile.
  virtual std::optional<Blame> BlameFor(const RankWait& /*own*/) { return std::nullopt; }

  // Texts that ranks publish of themselves.
  enum class Board : uint8_t { kSteps, kSaves };
  static constexpr size_t kBoards = 2;
  // Publishes this rank's `bytes`, at most kMostPublished, for rank 0; they replace the earlier ones of the same board.
  // Waits for nobody. A board's by one thread at a time, which may be another than that of the agreements. False where
  // earlier bytes are still unsent: rank 0 will not get these.
  virtual bool Publish(Board board, std::string_view bytes);
  static constexpr size_t kMostPublished = 1016;
  // On rank 0: the latest bytes of `rank` that have come; empty before the first. Waits for nobody; any thread.
  virtual std::string PublishedBy(Board board, uint32_t rank);

  // The cause of the job's end as soon as it is known, OK until then: for waits for something else, as for a device.
  virtual absl::Status Poll() = 0;

  // Ends the waits of all ranks. The first cause of the job is kept and reported by everyone; later
  // ones are dropped. Returns when the others are told: after a second at most where they cannot be.
  virtual void Abort(const absl::Status& cause) = 0;

  // Asks all ranks to stop after the same step, the earliest that none of them has gone beyond; waits for nobody. Any
  // thread. `signal` is the signal that the user sent, for messages.
  virtual void RequestStop(int signal) = 0;

  // Before each step of a loop that all ranks run alike: false when the ranks are to stop before it. Waits for peers
  // only once a stop has been asked for, until they have reported their steps: errors as of the waits above.
  virtual absl::StatusOr<bool> BeginStep(uint64_t step, absl::Duration timeout) = 0;

  // The signal that has stopped the ranks; 0 before one has.
  virtual int stop_signal() = 0;

  // All ranks keep the state by now: further signals do not change how the run ends. Waits for nobody; call it after a
  // barrier.
  virtual void MarkStateKept() = 0;

  // Announces that this rank is done: its end is from now on not a death. Waits for nobody.
  virtual void Finish() = 0;

 private:
  std::vector<std::string> offers_;  // by rank, where no class overrides Offer
  std::mutex publishing_;
  std::array<std::string, kBoards> published_;  // by this rank, where no class overrides Publish
};

}  // namespace sgd::comm
