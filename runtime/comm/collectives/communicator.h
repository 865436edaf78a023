// The interface through which tensors go between ranks: collectives prepared before the first step, then executed
// without allocation. A communicator belongs to one rank and one thread uses it at a time. A collective can be split:
// between Start and Wait the caller computes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/collectives/collective_spec.h"
#include "runtime/comm/control/control.h"

namespace sgd::comm {

// Names a prepared collective of one communicator.
struct CollectiveHandle {
  uint32_t index = 0;
};

// One end of a channel between stages (channel.h), as its rank sees it.
struct ChannelSpec {
  bool sends = false;           // else it receives
  uint32_t peer = 0;            // the rank at the other end
  uint64_t mailbox_offset = 0;  // in the receiver's window
  uint64_t message_bytes = 0;
  uint32_t depth = 1;
  std::string description;  // "send to rank 2 by channel 3 from stage 0 to stage 1", for errors
  std::string location;     // "model.py:12:3", for errors of waits that no instruction is known for
};

// The ranks of a pipeline's stages, and between which stages messages go: pairs of from and to, in order.
struct StageLinks {
  uint32_t stages = 1;
  std::vector<std::pair<uint32_t, uint32_t>> links;
};

// Messages between ranks of different hosts that are no collective: at most one to each rank and from each rank.
struct BulkMessages {
  struct Send {
    uint32_t peer = 0;
    std::span<const std::byte> bytes;
  };
  struct Receive {
    uint32_t peer = 0;
    std::span<std::byte> bytes;  // of the length that the peer sends
  };
  std::vector<Send> sends;
  std::vector<Receive> receives;
};

// Messages that go beside steps, one to a rank of another host and one from one. Their memory is the communicator's.
struct SideMessages {
  uint32_t to = 0, from = 0;
  std::span<std::byte> sent, received;
};

// Names a prepared end of a channel of one communicator.
struct ChannelHandle {
  uint32_t index = 0;
};

// Collectives of a communicator whose windows are memory of a device with streams.
class StreamCollectives {
 public:
  virtual ~StreamCollectives() = default;

  // Enqueues a prepared collective on the device's current stream, and returns at once: later work on that stream
  // finds it complete.
  virtual absl::Status Enqueue(CollectiveHandle handle) = 0;

  // Enqueues the sending of a message, or the coming of one to memory of the device, of a prepared end of a channel.
  // Messages of a link, from one rank to another, are sent in the order in which their coming is enqueued; all on one
  // stream, which may wait for the peer and which nothing else is enqueued on.
  virtual absl::Status EnqueueSend(ChannelHandle handle, const std::byte* source) = 0;
  virtual absl::Status EnqueueReceive(ChannelHandle handle, std::byte* target) = 0;

  // The error of a peer or of a collective, or the cause of the job's end, as soon as it is known: for waits for a
  // stream.
  virtual absl::Status Poll() = 0;

  // A wait for a stream has taken too long: what is in flight, and which ranks have not come. Never OK; may take
  // seconds.
  virtual absl::Status Late(absl::Duration waited) = 0;

  // Adds what collectives have sent that ran again without being enqueued, in a recording that was replayed.
  virtual void CountSent(uint64_t bytes) = 0;
};

// Waits end early as those of Control, and with
//   kDeadlineExceeded    also naming the collective and its location,
//   kFailedPrecondition  when a peer executes a different collective (naming both).
// After any error the communicator is of no more use, and the job is to end: the rank that met it calls EndJob.
class Communicator {
 public:
  virtual ~Communicator() = default;

  // That of the same ranks.
  virtual Control& control() const = 0;

  // This rank's window: operands and results of collectives. Owned by the communicator, aligned to
  // 4096, zero at the start.
  virtual std::byte* window() = 0;
  virtual uint64_t window_bytes() const = 0;

  // Checks the collective and does everything that can be done before it runs. All ranks prepare
  // the same collectives in the same order (programs one after the other); `mesh` must have as many
  // ranks as the job. Ranks may have to meet here.
  virtual absl::StatusOr<CollectiveHandle> Prepare(const Mesh& mesh, const CollectiveSpec& spec) = 0;

  // Runs a prepared collective over the windows. Afterwards the targets are complete and the
  // sources of this rank may be overwritten. Ranks of hosts reduce in the order of reduction_tree.h,
  // in f32 for bf16 and f16 and rounded once, so that every rank gets the same bits in every run, wherever ranks are;
  // libraries of devices have an order of their own.
  virtual absl::Status Execute(CollectiveHandle handle, absl::Duration timeout) = 0;

  // Begins a prepared collective and returns soon: its sources are complete. Until the Wait for it
  // nobody may write them, and nobody touch its targets. Several collectives may be in flight; all
  // ranks start them, wait for them and execute others between in the same order. `timeout` is as
  // for Execute. Errors may show here or at the Wait.
  virtual absl::Status Start(CollectiveHandle handle, absl::Duration timeout) = 0;

  // Returns when a started collective is complete; then all is as after Execute. FailedPrecondition
  // for one that was not started.
  virtual absl::Status Wait(CollectiveHandle handle, absl::Duration timeout) = 0;

  // From now on the ranks are those of so many stages, which run programs of their own: collectives are prepared and
  // executed by the ranks of one stage, in an order of theirs, and messages go over the links between ranks with equal
  // other coordinates. All ranks call it, with the same links, and meet there, while no collective is in flight; again
  // it changes nothing. Unimplemented where there are no channels.
  virtual absl::Status UseStages(const StageLinks& stages, absl::Duration timeout);

  // Checks one end of a channel and does what can be done before the first message. Several may be prepared for one
  // channel, each with a description of its own.
  virtual absl::StatusOr<ChannelHandle> PrepareChannel(const ChannelSpec& spec);

  // Where windows are the host's: copies a message of `source` to the receiver's window; waits for a free place, but
  // not for the receiver. No allocation, no lock. Waits end as those of Execute.
  virtual absl::Status Send(ChannelHandle handle, const std::byte* source, absl::Duration timeout);
  // Copies the next message to `target`; waits for it.
  virtual absl::Status Receive(ChannelHandle handle, std::byte* target, absl::Duration timeout);

  // Sends and receives messages that ranks of other hosts receive and send by the same call; returns when what was sent
  // may be overwritten and what was to come is here. While no collective is in flight. Waits end as those of Execute.
  // Unimplemented where ranks talk through their devices.
  virtual absl::Status Exchange(const BulkMessages& messages, absl::Duration timeout);

  // Takes memory for messages beside steps, once. ResourceExhausted without memory; Unimplemented as for Exchange.
  virtual absl::StatusOr<SideMessages> ReserveSideMessages(uint32_t to, uint64_t sent_bytes, uint32_t from,
                                                           uint64_t received_bytes);
  // Begins to send and to receive them, and returns. Until they have been finished nobody touches their memory, but for
  // `take`: once all that was to come is here, any thread calls it, one after the other, until it returns false; each
  // call does little, since a collective may wait for it. All ranks do so in the same order, while no collective is in
  // flight; collectives may follow.
  virtual absl::Status StartSideMessages(std::function<bool()> take);
  // Waits until they have been sent, and have come and been taken; at once where none are in flight. Waits
  // end as those of Execute.
  virtual absl::Status FinishSideMessages(absl::Duration timeout);
  // Forgets those that are in flight: `take` is not called any more. For the end of a job.
  virtual void DropSideMessages() {}

  // Null where windows are the host's.
  virtual StreamCollectives* stream_collectives() { return nullptr; }

  // Ends the job with this cause, and with it what of the communicator's is in flight on a device.
  virtual void EndJob(const absl::Status& cause) { control().Abort(cause); }

  // Payload bytes sent by the collectives executed so far, by the ring rule (sent_bytes.h), and by messages.
  virtual uint64_t sent_bytes() const = 0;

  // Bytes that this rank has sent to ranks of other hosts, without what networks add.
  virtual uint64_t host_bytes() const { return 0; }

  // For how long messages to ranks of other hosts, or collectives that were started, have been in flight while this
  // rank did not wait for any.
  virtual absl::Duration hidden_time() { return absl::ZeroDuration(); }
};

}  // namespace sgd::comm
