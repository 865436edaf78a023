// A rank's end of a channel between stages whose other end is on another host: messages go through places in the
// receiver's mailbox, as on one host, but are counted here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/collectives/communicator.h"
#include "runtime/comm/hosts/host_links.h"
#include "runtime/comm/hosts/progress_engine.h"

namespace sgd::comm {

// Several prepared ends may stand for one. One thread calls Send and Receive.
class HostChannel final : private Operation {
 public:
  // Where a message of `spec` lies in the receiver's window must have been checked. `mailbox` is in this rank's window,
  // and null for a sender.
  static absl::StatusOr<std::unique_ptr<HostChannel>> Open(ProgressEngine& engine, HostLinks& links,
                                                           const ChannelSpec& spec, std::byte* mailbox);
  ~HostChannel() override { engine_.Remove(*this); }

  // As of Communicator. `description` is that of one of the prepared ends.
  absl::Status Send(const std::byte* source, absl::Duration timeout, const std::string& description);
  absl::Status Receive(std::byte* target, absl::Duration timeout, const std::string& description);

 private:
  HostChannel(ProgressEngine& engine, const ChannelSpec& spec, HostLink* link);
  std::byte* Place(uint64_t message) const;
  uint64_t ChunkBytes(uint64_t chunk) const;  // of a message
  bool HasLeft(uint64_t message) const;
  // Whether Send has a free place, or Receive a message.
  bool MayGoOn() const;
  bool SendChunks();
  bool TakeChunks();
  absl::Status WaitForTurn(absl::Duration timeout, const std::string& description);

  Advance Step() override;
  bool IsInFlight() const override;
  void AppendAwaited(AwaitedPeers* awaited) const override;

  ProgressEngine& engine_;
  ChannelSpec spec_;
  HostLink* link_;
  uint64_t chunks_;        // of a message
  uint64_t first_;         // number on the link of the first chunk
  uint64_t places_count_;  // messages that are kept here
  std::byte* places_ = nullptr;
  std::vector<std::byte> own_places_;  // of a sender: what it sends is copied, so that it may go on
  uint64_t given_ = 0;                 // messages: to Send, or returned by Receive
  uint64_t begun_ = 0;                 // chunks: sent or posted
  uint64_t arrived_ = 0;               // chunks
};

}  // namespace sgd::comm
