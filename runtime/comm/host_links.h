// Links to ranks of other hosts over a transport: in each, messages come in order, and a sender is at most a window of
// messages ahead of its receiver, however slow that is.
#pragma once

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/channel.h"
#include "runtime/comm/control.h"
#include "runtime/comm/placement.h"
#include "runtime/comm/transport.h"
#include "runtime/comm/unique_fd.h"

namespace sgd::comm {

// Both directions of one stream between this rank and a peer. Numbers count messages since the start.
class HostLink {
 public:
  // Messages that have been sent and of which it is not known yet that they were taken: many, since an acknowledgement
  // waits behind what this rank sends itself, in its buffers and those of networks.
  static constexpr uint64_t kWindow = 32;
  // Messages that have been posted and not taken.
  static constexpr uint64_t kPosted = 8;

  // Streams of channels are named by where the receiver's mailbox is, others are less than kMailboxStreams.
  static constexpr uint64_t kMailboxStreams = uint64_t{1} << 34;
  static constexpr uint64_t ChannelStream(uint64_t mailbox_offset) {
    return kMailboxStreams | mailbox_offset / kMailboxAlignment;
  }

  HostLink(Transport& transport, uint32_t rank, uint32_t peer, uint64_t stream);
  // Drops what is in flight: the transport must have ended.
  ~HostLink() = default;
  HostLink(const HostLink&) = delete;
  HostLink& operator=(const HostLink&) = delete;

  uint32_t peer() const { return peer_; }

  // Whether a message may be sent now.
  bool MaySend();
  // Returns its number. `data` stays untouched until HasLeft(number).
  uint64_t Send(const std::byte* data, uint64_t bytes);
  bool HasLeft(uint64_t number) const;
  uint64_t sent() const { return sent_; }

  // At most kPosted messages may be posted and not taken.
  bool MayPost() const { return posted_ - taken_ < kPosted; }
  void Post(std::byte* data, uint64_t bytes);
  // Whether the next message that was posted and not taken is here.
  bool HasArrived();
  // Frees its place.
  void Take();
  // Tells the peer what has been taken, as soon as that can be sent.
  void SendDueAck();
  uint64_t posted() const { return posted_; }
  uint64_t taken() const { return taken_; }

  // Whether a message has failed.
  bool has_failed() const;

 private:
  struct Ack {
    uint64_t taken = 0;
    Completion completion;
  };
  uint64_t Tag(bool is_ack, uint32_t sender, uint64_t number) const;
  void ReadAcks();

  Transport& transport_;
  uint32_t rank_, peer_;
  uint64_t stream_;
  uint64_t sent_ = 0, acknowledged_ = 0, posted_ = 0, taken_ = 0;
  std::array<Completion, kWindow> sends_;
  std::array<Completion, kPosted> receives_;
  uint64_t acks_sent_ = 0, acks_read_ = 0, told_ = 0;
  Ack next_ack_;                 // that is received
  std::array<Ack, 4> own_acks_;  // that are sent
};

// Who waits for a rank that itself waits for another one lets that one say so.
inline absl::Duration PatienceOf(absl::Duration timeout) { return std::min(timeout, absl::Seconds(2)); }

// All links of a rank. Whoever uses links, or what this returns, holds the mutex.
class HostLinks {
 public:
  // `addresses` by rank.
  HostLinks(std::unique_ptr<Transport> transport, Control& control, Placement placement,
            std::vector<std::string> addresses);

  ~HostLinks() { Close(); }
  // Stops the thread, if there is one, and drops what is in flight; links are of no more use.
  void Close();

  Transport& transport() { return *transport_; }
  const Placement& placement() const { return placement_; }
  std::mutex& mutex() { return mutex_; }

  // Connects where that has not been done.
  absl::StatusOr<HostLink*> Open(uint32_t peer, uint64_t stream);

  enum class Advance { kDone, kMoved, kIdle };
  // What a wait misses: "rank 2 (host b) sent nothing".
  struct Missing {
    std::string text;
    bool is_direct = true;  // of a rank that waits for nobody else; else that one lets others say so first
  };
  // Calls `advance` until it returns kDone, moving messages in between. When nothing has moved for `timeout`:
  // DeadlineExceeded of `describe_missing`, PatienceOf(timeout) later when that is not direct. Ends early as waits of
  // Communicator. With `spins` it looks for messages all the time, which is for threads with a core of their own; else
  // it sleeps until there are some. Takes the mutex, and gives it back while it sleeps.
  absl::Status Drive(absl::FunctionRef<Advance()> advance, absl::Duration timeout, bool spins,
                     const std::string& description, absl::FunctionRef<Missing()> describe_missing);
  // From now on a thread moves messages while nobody drives: what is sent may need help when its sender already
  // computes. It calls `advance` under the mutex when some have moved. ResourceExhausted without a thread.
  absl::Status StartThread(std::function<void()> advance);

 private:
  absl::Status Failure(const std::string& description);
  absl::Status FailureOf(uint32_t peer, const absl::Status& error, const std::string& description);
  void Sleep(std::unique_lock<std::mutex>& lock);
  bool Progress();
  void RunThread(const std::function<void()>& advance);

  std::unique_ptr<Transport> transport_;
  Control& control_;
  Placement placement_;
  std::vector<std::string> addresses_;
  std::mutex mutex_;
  std::map<std::pair<uint32_t, uint64_t>, std::unique_ptr<HostLink>> links_;
  // Who sleeps is woken when another thread has moved messages, which may be his.
  UniqueFd wake_;  // eventfd
  uint64_t sleepers_ = 0;
  uint32_t drivers_ = 0;
  bool is_closing_ = false;
  std::condition_variable nobody_drives_;
  std::thread thread_;
};

}  // namespace sgd::comm
