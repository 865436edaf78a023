// An all-reduce by recursive doubling while it is executed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/comm/host_links.h"
#include "runtime/comm/reduction_flows.h"
#include "runtime/comm/two_level_plan.h"

namespace sgd::comm {

class DoublingFlow {
 public:
  // Opens the links. `plan` is borrowed; `host` is this rank's.
  static absl::StatusOr<DoublingFlow> Create(HostLinks& links, const DoublingPlan& plan, uint32_t host);

  // Memory that it uses while it is executed.
  uint64_t staging_bytes() const;

  // Starts over. As of ReductionFlow.
  void Begin(std::byte* staging, ReductionPart::Windows windows, absl::Span<std::byte* const> host_windows);
  // Does what can be done now; whether that was anything.
  bool Advance(TileScratch& scratch);
  bool IsDone() const { return is_stored_ && HaveLeft(); }
  void AppendSilent(SilentPeers* silent) const;

 private:
  DoublingFlow(const DoublingPlan& plan, uint32_t host) : plan_(&plan), host_(host) {}
  bool SendNext(TileScratch& scratch);
  bool JoinNext();
  bool Store(TileScratch& scratch);
  bool HaveLeft() const;
  uint64_t MessageBytes(size_t round, uint32_t host) const;
  // What this host has reduced before a round, and what it gets in it; the values that it sends in the first round, and
  // as accumulators what it gets there.
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
};

}  // namespace sgd::comm
