// The interface through which ranks talk: collectives prepared before the first step, then executed
// without allocation. A communicator belongs to one rank and one thread uses it at a time; only
// Abort may be called from any thread. A collective can be split: between Start and Wait the caller
// computes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/collective_spec.h"

namespace sgd::comm {

// Names a prepared collective of one communicator.
struct CollectiveHandle {
  uint32_t index = 0;
};

// Timeouts bound each single wait for peers. A wait that ends early returns
//   kDeadlineExceeded  naming the ranks that did not arrive, the collective and its location,
//   kAborted           with the first cause of the job's abort (which rank, what),
//   kFailedPrecondition  when a peer executes a different collective (naming both).
// After any error the communicator is of no more use, and the job is to end: the rank that met it
// calls Abort.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual uint32_t rank() const = 0;
  virtual uint32_t size() const = 0;

  // Whether ranks may be on different hosts, with files and memory of their own.
  virtual bool spans_hosts() const { return false; }

  // This rank's window: operands and results of collectives. Owned by the communicator, aligned to
  // 4096, zero at the start.
  virtual std::byte* window() = 0;
  virtual uint64_t window_bytes() const = 0;

  // Checks the collective and does everything that can be done before it runs. All ranks prepare
  // the same collectives in the same order (programs one after the other); `mesh` must have size()
  // ranks. Ranks may have to meet here.
  virtual absl::StatusOr<CollectiveHandle> Prepare(const Mesh& mesh, const CollectiveSpec& spec) = 0;

  // Runs a prepared collective over the windows. Afterwards the targets are complete and the
  // sources of this rank may be overwritten. Sums are taken in the order of group positions, in f32
  // for bf16 and f16 and rounded once, so that every rank gets the same bits in every run.
  virtual absl::Status Execute(CollectiveHandle handle, absl::Duration timeout) = 0;

  // Begins a prepared collective and returns soon: its sources are complete. Until the Wait for it
  // nobody may write them, and nobody touch its targets. Several collectives may be under way; all
  // ranks start them, wait for them and execute others between in the same order. `timeout` is as
  // for Execute. Errors may show here or at the Wait.
  virtual absl::Status Start(CollectiveHandle handle, absl::Duration timeout) = 0;

  // Returns when a started collective is complete; then all is as after Execute. FailedPrecondition
  // for one that was not started.
  virtual absl::Status Wait(CollectiveHandle handle, absl::Duration timeout) = 0;

  // Gives a prepared collective to the queue in use of the device whose memory the windows are, and returns at once:
  // what the queue is given later finds it complete. Unimplemented where windows are the host's.
  virtual absl::Status Enqueue(CollectiveHandle handle) {
    return absl::UnimplementedError("this communicator has no queue");
  }
  // The error of a peer or of a collective, or the cause of the job's end, as soon as it is known: for waits for
  // something else, as for a queue.
  virtual absl::Status Poll() { return absl::OkStatus(); }

  // A wait for a queue has taken too long: what is under way, and which ranks have not come. Never OK; may take
  // seconds.
  virtual absl::Status Late(absl::Duration waited) {
    return absl::DeadlineExceededError("has not come to the end in " + absl::FormatDuration(waited));
  }

  // Waits until every rank of the job is here. As AllGatherBytes, refused with FailedPrecondition
  // while a collective is under way.
  virtual absl::Status Barrier(absl::Duration timeout) = 0;

  // Every rank's bytes, by rank. For agreement at the start and other small matters; allocates, any
  // size.
  virtual absl::StatusOr<std::vector<std::string>> AllGatherBytes(std::string_view bytes, absl::Duration timeout) = 0;

  // The same for rank 0, for more bytes than everybody should get: elsewhere the texts may be empty.
  virtual absl::StatusOr<std::vector<std::string>> GatherBytes(std::string_view bytes, absl::Duration timeout) {
    return AllGatherBytes(bytes, timeout);
  }

  // Ends the waits of all ranks. The first cause of the job is kept and reported by everyone; later
  // ones are dropped.
  virtual void Abort(const absl::Status& cause) = 0;

  // Announces that this rank is done: its end is from now on not a death. Waits for nobody.
  virtual void Finish() = 0;

  // Payload bytes sent by the collectives executed so far, by the ring rule (sent_bytes.h).
  virtual uint64_t sent_bytes() const = 0;
  // Adds what collectives have sent that ran again without being enqueued, in a recording that was replayed.
  virtual void CountSent(uint64_t bytes) {}
};

}  // namespace sgd::comm
