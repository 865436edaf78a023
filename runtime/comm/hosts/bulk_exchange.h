// Messages of any length between ranks of different hosts, for what is no collective: parts of the state that one host
// gives another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/comm/collectives/communicator.h"
#include "runtime/comm/hosts/host_links.h"
#include "runtime/comm/hosts/progress_engine.h"

namespace sgd::comm {

// One exchange of a rank, from Run's call to its return. Chunks of all messages from one rank to another go over one
// link, in the order of the calls.
class BulkExchange final : private Operation {
 public:
  // As Communicator::Exchange.
  static absl::Status Run(ProgressEngine& engine, HostLinks& links, const BulkMessages& messages,
                          absl::Duration timeout);

 private:
  // The messages to, or from, one rank.
  struct Lane {
    HostLink* link = nullptr;
    std::byte* data = nullptr;
    uint64_t bytes = 0;
    uint64_t first = 0;             // number on the link of the first chunk
    uint64_t begun = 0, ended = 0;  // chunks
    uint64_t chunks() const;
    uint64_t ChunkBytes(uint64_t chunk) const;
  };

  explicit BulkExchange(ProgressEngine& engine) : engine_(engine) {}
  absl::Status Open(HostLinks& links, const BulkMessages& messages);
  static bool Send(Lane& lane);
  static bool Receive(Lane& lane);
  bool IsDone() const;

  Advance Step() override;
  bool IsInFlight() const override { return !IsDone(); }
  void AppendAwaited(AwaitedPeers* awaited) const override;

  ProgressEngine& engine_;
  std::vector<Lane> sends_, receives_;
};

}  // namespace sgd::comm
