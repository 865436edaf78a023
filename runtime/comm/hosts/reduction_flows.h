// The messages of one part of a reduction while it is executed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/comm/hosts/flow.h"
#include "runtime/comm/hosts/host_links.h"
#include "runtime/comm/hosts/two_level_plan.h"

namespace sgd::comm {

// Streams between two ranks: what flows towards the rank that wants it, and results on their way back.
inline constexpr uint32_t kForwardStream = 0;
inline constexpr uint32_t kResultStream = 1;

class ReductionFlow final : public Flow {
 public:
  // Opens the links. `plan` is borrowed; `host` is this rank's.
  static absl::StatusOr<ReductionFlow> Create(HostLinks& links, const PartPlan& plan, uint32_t host);

  // Memory for messages that it uses while it is executed.
  uint64_t staging_bytes() const { return staging_bytes_; }

  // Starts over. `windows` of the group's ranks on this host by position, `host_windows` by index on the host; both
  // stay until it is done. `own` is this rank's index on its host.
  void Begin(std::byte* staging, ReductionPart::Windows windows, absl::Span<std::byte* const> host_windows,
             uint32_t own);
  Advance Step() override;
  void Compute(TileScratch& scratch) override;
  bool IsDone() const override;
  void AppendAwaited(AwaitedPeers* awaited) const override;

 private:
  static constexpr uint64_t kSendBuffers = 4;
  // The work on memory for the next chunk of a lane.
  enum class Work : uint8_t { kNone, kMakeValues, kReduce, kPackResult, kUnpackResult };
  // Messages of one direction, one per chunk.
  struct Lane {
    HostLink* link = nullptr;
    uint32_t host = 0;
    uint64_t message_bytes = 0;  // the longest
    std::byte* buffers = nullptr;
    uint64_t first = 0;        // number of the first message
    size_t chunks = 0;         // sent, or posted
    size_t consumed = 0;       // taken
    bool is_computed = false;  // the work for the next chunk, which is `chunks` where it is sent, else `consumed`
    std::byte* Buffer(uint64_t which) const { return buffers + which * message_bytes; }
  };

  ReductionFlow(const PartPlan& plan, uint32_t host) : plan_(&plan), host_(host) {}
  absl::Status Open(HostLinks& links);
  bool MayUseBuffer(const Lane& lane) const;
  // Whether the work for the lane's next chunk is done; asks for it where not.
  bool IsComputed(Lane& lane, Work work);
  const std::byte* ResultIn(const Lane& lane, std::byte** place) const;
  bool StoresElsewhere(const std::byte* place) const;
  bool SendValues();
  bool ReduceChunks();
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
  Work work_ = Work::kNone;  // that is asked for
  Lane* work_lane_ = nullptr;
};

}  // namespace sgd::comm
