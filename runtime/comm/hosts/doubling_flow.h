// An all-reduce by recursive doubling while it is executed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/comm/hosts/flow.h"
#include "runtime/comm/hosts/host_links.h"
#include "runtime/comm/hosts/two_level_plan.h"

namespace sgd::comm {

class DoublingFlow final : public Flow {
 public:
  // Opens the links. `plan` is borrowed; `host` is this rank's.
  static absl::StatusOr<DoublingFlow> Create(HostLinks& links, const DoublingPlan& plan, uint32_t host);

  // Memory that it uses while it is executed.
  uint64_t staging_bytes() const;

  // Starts over. As of ReductionFlow.
  void Begin(std::byte* staging, ReductionPart::Windows windows, absl::Span<std::byte* const> host_windows);
  Advance Step() override;
  void Compute(TileScratch& scratch) override;
  bool IsDone() const override { return is_stored_ && HaveLeft(); }
  void AppendAwaited(AwaitedPeers* awaited) const override;

 private:
  DoublingFlow(const DoublingPlan& plan, uint32_t host) : plan_(&plan), host_(host) {}
  // The work on memory: of the values that are sent first, of the next round that has come, of the result.
  enum class Work : uint8_t { kNone, kAccumulate, kJoin, kStore };
  // Whether that work is done; asks for it where not.
  bool IsComputed(Work work);
  bool SendNext();
  bool JoinNext();
  bool Store();
  bool HaveLeft() const;
  const std::byte* FirstValues() const;
  void JoinRound();
  uint64_t MessageBytes(size_t round, uint32_t host) const;
  // Values that this host has reduced before a round, and values that it receives: sent ones in the first round, and
  // received ones as accumulators.
  std::byte* Own(size_t round) const { return staging_ + 2 * round * place_bytes_; }
  std::byte* Got(size_t round) const { return staging_ + (2 * round + 1) * place_bytes_; }
  std::byte* Values() const { return Got(links_.size()); }
  std::byte* First() const { return Own(links_.size() + 1); }

  const DoublingPlan* plan_;
  uint32_t host_;
  uint64_t place_bytes_ = 0;
  std::vector<HostLink*> links_;   // by round
  std::vector<uint64_t> numbers_;  // of what has been sent
  ReductionPart::Windows windows_;
  std::byte* staging_ = nullptr;
  std::vector<std::byte*> targets_;
  size_t posted_ = 0, sent_ = 0, joined_ = 0;  // rounds
  bool is_stored_ = false;
  Work work_ = Work::kNone, computed_ = Work::kNone;
};

}  // namespace sgd::comm
