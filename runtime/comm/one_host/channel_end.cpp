// One writer and one reader per counter: a sender publishes a message by counting it, a receiver frees its place so.
#include "runtime/comm/one_host/channel_end.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <climits>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/comm/control/wait_note.h"
#include "runtime/comm/shared_memory/spin.h"

namespace sgd::comm {
namespace {

static_assert(std::endian::native == std::endian::little, "the futex is the counter's low half");
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// Sequentially consistent, as is the sleeper's announcement: one of the two sees the other.
void Publish(ChannelCounter& counter, uint64_t count) {
  counter.count.store(count);
  if (counter.sleepers.load() != 0) {
    syscall(SYS_futex, &counter.count, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }
}

}  // namespace

absl::StatusOr<ChannelEnd> ChannelEnd::Open(SharedMemoryControl& control, uint32_t peer, const ChannelSpec& spec) {
  SharedMemorySegment& segment = control.segment();
  const uint32_t rank = control.rank();
  const std::optional<uint64_t> bytes = MailboxBytes(spec.message_bytes, spec.depth);
  if (peer >= segment.ranks() || peer == rank || spec.depth == 0 || !bytes ||
      spec.mailbox_offset % kMailboxAlignment != 0 || spec.mailbox_offset > segment.window_bytes() ||
      *bytes > segment.window_bytes() - spec.mailbox_offset) {
    return absl::InvalidArgumentError(absl::StrCat(
        spec.description, ": ", spec.depth, " messages of ", spec.message_bytes, " bytes to or from rank ", spec.peer,
        " at ", spec.mailbox_offset, " are not in a window of ", segment.window_bytes(), " bytes of another rank"));
  }
  ChannelEnd end(control, peer, spec);
  const uint32_t receiver = spec.sends ? peer : rank;
  segment.MapWindow(receiver, spec.mailbox_offset, *bytes);
  std::byte* mailbox = segment.window(receiver) + spec.mailbox_offset;
  // All bytes of the window are zero at the start: so are the counters.
  end.header_ = reinterpret_cast<MailboxHeader*>(mailbox);
  end.places_ = mailbox + sizeof(MailboxHeader);
  return end;
}

absl::Status ChannelEnd::Send(const std::byte* source, absl::Duration timeout, bool shares_cores) {
  const uint64_t number = header().sent.count.load(std::memory_order_relaxed);
  if (number >= spec_.depth) {
    absl::Status status = WaitFor(header().received, number - spec_.depth + 1, timeout, shares_cores);
    if (!status.ok()) return status;
  }
  std::memcpy(Place(number), source, spec_.message_bytes);
  Publish(header().sent, number + 1);
  return absl::OkStatus();
}

absl::Status ChannelEnd::Receive(std::byte* target, absl::Duration timeout, bool shares_cores) {
  const uint64_t number = header().received.count.load(std::memory_order_relaxed);
  if (absl::Status status = WaitFor(header().sent, number + 1, timeout, shares_cores); !status.ok()) return status;
  std::memcpy(target, Place(number), spec_.message_bytes);
  Publish(header().received, number + 1);
  return absl::OkStatus();
}

absl::Status ChannelEnd::WaitFor(ChannelCounter& counter, uint64_t count, absl::Duration timeout,
                                 bool shares_cores) const {
  const int spins = shares_cores ? kSpinsWhenShared : kSpins;
  for (int i = 0; i < spins + kYields; ++i) {
    if (counter.count.load(std::memory_order_acquire) >= count) return absl::OkStatus();
    if (i < spins) {
      Pause();
    } else {
      sched_yield();
    }
  }
  const int64_t now = SteadyNanoseconds();
  const int64_t deadline = now + std::min(absl::ToInt64Nanoseconds(timeout), INT64_MAX - now);
  WaitNote note(*control_, WaitKind::kMessage);
  for (bool is_long = false; true; is_long = true) {
    if (is_long) note.Update(spec_.description, {&spec_.peer, 1});
    // The state is read first: a peer that is done has sent and received all.
    const bool ended = segment_->flag(peer_).state.load() == RankState::kDone;
    const uint64_t seen = counter.count.load();
    if (seen >= count) return absl::OkStatus();
    if (segment_->aborted())
      return absl::AbortedError(absl::StrCat(spec_.description, " was given up: ", segment_->abort_cause().message()));
    if (ended)
      return absl::FailedPreconditionError(
          absl::StrCat(spec_.description, ": rank ", spec_.peer, " has already ended"));
    if (SteadyNanoseconds() >= deadline) return Late(timeout);
    Sleep(counter, seen);
  }
}

absl::Status ChannelEnd::Late(absl::Duration timeout) const {
  const RankWait own{spec_.description, {spec_.peer}};
  const std::optional<Blame> blame = control_->BlameFor(own);
  if (!segment_->aborted()) return LateError(own, blame, spec_.sends ? " freed no place" : " sent nothing", timeout);
  return absl::AbortedError(absl::StrCat(spec_.description, " was given up: ", segment_->abort_cause().message()));
}

void ChannelEnd::Sleep(ChannelCounter& counter, uint64_t seen) const {
  counter.sleepers.fetch_add(1);
  if (counter.count.load() == seen) {
    const timespec slice = {0, kSleepNanoseconds};
    syscall(SYS_futex, &counter.count, FUTEX_WAIT, static_cast<uint32_t>(seen), &slice, nullptr, 0);
  }
  counter.sleepers.fetch_sub(1);
}

}  // namespace sgd::comm
