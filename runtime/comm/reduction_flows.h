// The messages of one part of a reduction while it is executed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/comm/host_links.h"
#include "runtime/comm/two_level_plan.h"

namespace sgd::comm {

// Streams between two ranks: what flows towards the rank that wants it, and results on their way back.
inline constexpr uint32_t kForwardStream = 0;
inline constexpr uint32_t kResultStream = 1;

// Those that have not done what a rank waits for.
struct SilentPeers {
  std::vector<uint32_t> senders;  // of what they have themselves
  std::vector<uint32_t> relays;   // of what they get from others
  std::vector<uint32_t> takers;   // of what the rank wants to send
};

class ReductionFlow {
 public:
  // Opens the links. `plan` is borrowed; `host` is this rank's.
  static absl::StatusOr<ReductionFlow> Create(HostLinks& links, const PartPlan& plan, uint32_t host);

  // Memory for messages that it uses while it is executed.
  uint64_t staging_bytes() const { return staging_bytes_; }

  // Starts over. `windows` of the group's ranks on this host by position, `host_windows` by index on the host; both
  // stay until it is done. `own` is this rank's index on its host.
  void Begin(std::byte* staging, ReductionPart::Windows windows, absl::Span<std::byte* const> host_windows,
             uint32_t own);
  // Does what can be done now; whether that was anything.
  bool Advance(TileScratch& scratch);
  bool IsDone() const;
  void AppendSilent(SilentPeers* silent) const;

 private:
  static constexpr uint64_t kSendBuffers = 4;
  // Messages of one direction, one per chunk.
  struct Lane {
    HostLink* link = nullptr;
    uint32_t host = 0;
    uint64_t message_bytes = 0;  // the longest
    std::byte* buffers = nullptr;
    uint64_t first = 0;   // number of the first message
    size_t chunks = 0;    // sent, or posted
    size_t consumed = 0;  // taken
    std::byte* Buffer(uint64_t which) const { return buffers + which * message_bytes; }
  };

  ReductionFlow(const PartPlan& plan, uint32_t host) : plan_(&plan), host_(host) {}
  absl::Status Open(HostLinks& links);
  bool MayUseBuffer(const Lane& lane) const;
  bool SendValues(TileScratch& scratch);
  bool ReduceChunks(TileScratch& scratch);
  bool SendResults();
  bool TakeResults();

  const PartPlan* plan_;
  uint32_t host_;
  uint64_t staging_bytes_ = 0;
  std::vector<Lane> values_out_, values_in_, results_out_, results_in_;  // the last: at most one
  ReductionPart::Windows windows_;
  absl::Span<std::byte* const> host_windows_;
  std::vector<std::byte*> targets_;
  std::vector<const std::byte*> values_;  // by host
  std::byte* own_window_ = nullptr;
  size_t reduced_ = 0;
};

}  // namespace sgd::comm
