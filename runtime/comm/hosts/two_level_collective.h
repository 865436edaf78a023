// A collective between hosts while it is executed: arrivals on this host, messages between hosts, arrivals again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/comm/hosts/doubling_flow.h"
#include "runtime/comm/hosts/host_links.h"
#include "runtime/comm/hosts/move_flows.h"
#include "runtime/comm/hosts/reduction_flows.h"
#include "runtime/comm/hosts/stepped_collective.h"
#include "runtime/comm/hosts/two_level_plan.h"
#include "runtime/comm/shared_memory/shared_memory_control.h"

namespace sgd::comm {

// State that all collectives of a rank share.
struct TwoLevelContext {
  SharedMemoryControl* control = nullptr;  // of this host's ranks
  std::vector<std::byte*> host_windows;    // by index on this host
  uint32_t own = 0;                        // this rank's index there
  uint32_t host = 0;
  std::byte* staging = nullptr;  // as much as the collective with the most needs
  TileScratch scratch;
  uint64_t sent_bytes = 0, host_bytes = 0;
};

class TwoLevelCollective final : public SteppedCollective, private Operation {
 public:
  // Opens the links, under the lock of ProgressEngine. `context` is borrowed.
  static absl::StatusOr<std::unique_ptr<TwoLevelCollective>> Open(HostLinks& links, uint32_t index,
                                                                  std::unique_ptr<TwoLevelPlan> plan,
                                                                  TwoLevelContext& context);

  // Memory for messages while it is executed.
  uint64_t staging_bytes() const;

  CollectiveWait Begin() override;
  CollectiveWait Continue() override;
  Operation* messages() override { return this; }
  bool HaveMessagesEnded() const override;
  const std::string& description() const override { return plan_->base.description; }

 private:
  enum class Next : uint8_t { kMeet, kMessages, kLeave, kEnd };

  TwoLevelCollective(uint32_t index, std::unique_ptr<TwoLevelPlan> plan, TwoLevelContext& context)
      : index_(index), plan_(std::move(plan)), context_(context) {}
  absl::Status OpenFlows(HostLinks& links);
  CollectiveWait Arrive();
  void BeginFlows();
  void CopyOnHost() const;

  Advance Step() override;
  void Compute() override;
  bool IsInFlight() const override { return !HaveMessagesEnded(); }
  void AppendAwaited(AwaitedPeers* awaited) const override;

  uint32_t index_;
  std::unique_ptr<TwoLevelPlan> plan_;
  TwoLevelContext& context_;
  std::vector<const std::byte*> windows_;  // by position, null of other hosts
  std::vector<ReductionFlow> reductions_;
  std::optional<DoublingFlow> doubling_;
  std::vector<MoveFlow> moves_;
  std::vector<Flow*> flows_;  // all of them
  Next next_ = Next::kMeet;
  uint32_t slot_ = 0;
  bool copies_ = false;       // on this host, still to be done
  Flow* computes_ = nullptr;  // what Compute works on; null: the copies
};

}  // namespace sgd::comm
