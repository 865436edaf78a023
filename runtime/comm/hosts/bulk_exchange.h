// Messages of any length between ranks of different hosts, for what is no collective: parts of the state that one host
// gives another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/collectives/communicator.h"
#include "runtime/comm/hosts/host_links.h"
#include "runtime/comm/hosts/progress_engine.h"

namespace sgd::comm {

// One exchange of a rank. Chunks of all messages from one rank to another go over one link, in the order of the calls.
class BulkExchange final : private Operation {
 public:
  // As Communicator::Exchange.
  static absl::Status Run(ProgressEngine& engine, HostLinks& links, const BulkMessages& messages,
                          absl::Duration timeout);

  // Begins one that goes beside others, over links of its own: see Communicator::StartSideMessages. Whoever drives the
  // engine calls `take`.
  static absl::StatusOr<std::unique_ptr<BulkExchange>> Start(ProgressEngine& engine, HostLinks& links,
                                                             const BulkMessages& messages, std::function<bool()> take);
  absl::Status Finish(absl::Duration timeout);
  // Without having been finished it is forgotten.
  ~BulkExchange() override;

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

  BulkExchange(ProgressEngine& engine, uint64_t stream, std::function<bool()> take)
      : engine_(engine), stream_(stream), take_(std::move(take)) {}
  absl::Status Open(HostLinks& links, const BulkMessages& messages);
  void Begin();
  bool HasAll() const;  // of what comes
  static bool Send(Lane& lane);
  static bool Receive(Lane& lane);
  bool IsDone() const;

  Advance Step() override;
  void Compute() override;
  bool IsInFlight() const override { return !IsDone(); }
  void AppendAwaited(AwaitedPeers* awaited) const override;

  ProgressEngine& engine_;
  const uint64_t stream_;
  std::function<bool()> take_;  // empty once all is taken
  bool is_submitted_ = false;
  std::vector<Lane> sends_, receives_;
};

}  // namespace sgd::comm
