// A rank's end of a channel in shared memory: waits for a place or a message, and copies it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/collectives/channel.h"
#include "runtime/comm/collectives/communicator.h"
#include "runtime/comm/shared_memory/shared_memory_control.h"
#include "runtime/comm/shared_memory/shared_memory_segment.h"

namespace sgd::comm {

// Counters and places are in the mailbox, so that several ends may stand for one channel; one thread uses them at a
// time.
class ChannelEnd {
 public:
  // InvalidArgument when the mailbox is not inside the receiver's window. Maps it, so that no message meets a page
  // fault. Borrows the control.
  // `peer` is the other end's number in the segment, `spec.peer` what it is called in messages.
  static absl::StatusOr<ChannelEnd> Open(SharedMemoryControl& control, uint32_t peer, const ChannelSpec& spec);

  bool sends() const { return spec_.sends; }
  uint64_t message_bytes() const { return spec_.message_bytes; }

  // See Communicator. `shares_cores`: waits give their core away at once.
  absl::Status Send(const std::byte* source, absl::Duration timeout, bool shares_cores);
  absl::Status Receive(std::byte* target, absl::Duration timeout, bool shares_cores);

 private:
  ChannelEnd(SharedMemoryControl& control, uint32_t peer, const ChannelSpec& spec)
      : control_(&control), segment_(&control.segment()), peer_(peer), spec_(spec) {}

  MailboxHeader& header() const { return *header_; }
  std::byte* Place(uint64_t number) const { return places_ + number % spec_.depth * PlaceBytes(spec_.message_bytes); }
  // Until the peer's counter has reached `count`.
  absl::Status WaitFor(ChannelCounter& counter, uint64_t count, absl::Duration timeout, bool shares_cores) const;
  absl::Status Late(absl::Duration timeout) const;
  void Sleep(ChannelCounter& counter, uint64_t seen) const;

  SharedMemoryControl* control_;
  SharedMemorySegment* segment_;
  uint32_t peer_;
  ChannelSpec spec_;
  MailboxHeader* header_ = nullptr;
  std::byte* places_ = nullptr;
};

}  // namespace sgd::comm
