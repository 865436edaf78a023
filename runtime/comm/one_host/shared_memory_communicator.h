// The communicator of ranks on one host, over a shared memory segment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/comm/collectives/communicator.h"
#include "runtime/comm/kernels/reduce_rows.h"
#include "runtime/comm/one_host/channel_end.h"
#include "runtime/comm/one_host/collective_plan.h"
#include "runtime/comm/one_host/collective_thread.h"
#include "runtime/comm/shared_memory/group_barrier.h"
#include "runtime/comm/shared_memory/shared_memory_control.h"
#include "runtime/comm/shared_memory/shared_memory_segment.h"

namespace sgd::comm {

// A collective of one host while it is executed, a step at a time.
struct HostCollective {
  enum class Step : uint8_t { kStage, kMove, kEnd };
  const CollectivePlan* plan = nullptr;
  Step next = Step::kStage;
  uint32_t slot = 0;
};

class SharedMemoryCommunicator final : public Communicator {
 public:
  // As SharedMemoryControl::Connect.
  static absl::StatusOr<std::unique_ptr<SharedMemoryCommunicator>> Connect(std::shared_ptr<SharedMemorySegment> segment,
                                                                           uint32_t rank, absl::Duration timeout,
                                                                           uint32_t core_limit = UINT32_MAX,
                                                                           std::vector<uint32_t> job_ranks = {});
  // Ends the job when a collective is still in flight.
  ~SharedMemoryCommunicator() override;

  // From now on, started collectives run on a thread of their own, which may use every core that
  // the calling thread may; `has_own_core`: there is one that nobody computes on. Without it they
  // make no progress between Start and Wait. All ranks do the same, and none has a collective under
  // way. ResourceExhausted where the system gives no thread.
  absl::Status StartThread(bool has_own_core);

  SharedMemoryControl& control() const override { return *control_; }
  std::byte* window() override { return segment_.window(rank()); }
  uint64_t window_bytes() const override { return segment_.window_bytes(); }
  absl::StatusOr<CollectiveHandle> Prepare(const Mesh& mesh, const CollectiveSpec& spec) override;
  absl::Status Execute(CollectiveHandle handle, absl::Duration timeout) override;
  absl::Status Start(CollectiveHandle handle, absl::Duration timeout) override;
  absl::Status Wait(CollectiveHandle handle, absl::Duration timeout) override;
  absl::Status UseStages(const StageLinks& stages, absl::Duration timeout) override {
    return control_->UseStages(stages.stages, timeout);
  }
  absl::StatusOr<ChannelHandle> PrepareChannel(const ChannelSpec& spec) override;
  absl::Status Send(ChannelHandle handle, const std::byte* source, absl::Duration timeout) override;
  absl::Status Receive(ChannelHandle handle, std::byte* target, absl::Duration timeout) override;
  uint64_t sent_bytes() const override { return sent_bytes_ + sent_by_channels_; }

  // For a communicator of more ranks than this host's, whose collectives have the same numbers here.

  // Instead of Prepare: a plan whose members and readers are ranks of this host. Without `runs_on_host` it is one that
  // only has its number here, and is never executed.
  CollectiveHandle AddPlan(CollectivePlan plan, bool runs_on_host);
  // Instead of Execute, for a thread that must not sleep. Each step returns the wait that the next one needs; nothing:
  // the collective is complete.
  std::optional<HostWait> BeginStep(CollectiveHandle handle, HostCollective& collective);
  std::optional<HostWait> NextStep(HostCollective& collective);
  // Instead of PrepareChannel: `peer` is a rank of this host, called `spec.peer` in messages.
  absl::StatusOr<ChannelHandle> AddChannel(const ChannelSpec& spec, uint32_t peer);
  const std::string& DescriptionOf(CollectiveHandle handle) const { return plans_[handle.index]->description; }
  // Sources of up to so many bytes are staged.
  uint64_t staged_limit() const;

 private:
  // A prepared collective between Start and Wait.
  struct Progress {
    bool is_under_way = false;
    uint32_t ticket = 0;  // with a thread
    // Without one: the peers may read and write here, the rest is up to Wait.
    HostCollective collective;
    std::optional<HostWait> wait;
  };

  explicit SharedMemoryCommunicator(std::unique_ptr<SharedMemoryControl> control);
  uint32_t rank() const { return control_->rank(); }
  void MapPeers(const CollectivePlan& plan);
  absl::Status CheckPrepared(CollectiveHandle handle) const;
  absl::Status Run(uint32_t index, absl::Duration timeout);
  absl::Status Complete(HostCollective& collective, std::optional<HostWait> wait, absl::Duration timeout);
  const std::byte* SourceOf(const CollectivePlan& plan, const OperandPlan& operand, uint32_t position, uint32_t slot);
  std::byte* TargetOf(const OperandPlan& operand, uint32_t rank);
  void Stage(const CollectivePlan& plan, uint32_t slot);
  void Move(const CollectivePlan& plan, uint32_t slot);
  void RunReductions(const CollectivePlan& plan, uint32_t slot);
  void RunCopies(const CollectivePlan& plan, uint32_t slot);
  void RunRanges(const CollectivePlan& plan, uint32_t slot);
  void RunAlone(const CollectivePlan& plan);

  std::unique_ptr<SharedMemoryControl> control_;
  SharedMemorySegment& segment_;
  GroupBarrier& barrier_;
  std::vector<std::unique_ptr<const CollectivePlan>> plans_;
  std::vector<Progress> progress_;  // one per plan
  ReduceScratch scratch_;
  std::vector<const std::byte*> sources_;  // by position, reused by every execution
  std::vector<std::byte*> targets_;
  uint64_t sent_bytes_ = 0;
  // The members above belong to it while anything is in flight.
  std::unique_ptr<CollectiveThread> thread_;
  // These are always the calling thread's.
  std::vector<ChannelEnd> channels_;
  uint64_t sent_by_channels_ = 0;
};

}  // namespace sgd::comm
