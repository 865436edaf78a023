// The communicator of ranks on one host, over a shared memory segment; ranks are processes or, in
// tests, threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/comm/collective_plan.h"
#include "runtime/comm/collective_thread.h"
#include "runtime/comm/communicator.h"
#include "runtime/comm/group_barrier.h"
#include "runtime/comm/reduce_rows.h"
#include "runtime/comm/shared_memory_segment.h"

namespace sgd::comm {

class SharedMemoryCommunicator final : public Communicator {
 public:
  // Joins the segment as `rank` and waits for all other ranks to do the same. `core_limit` bounds
  // the cores whose time the ranks may use together, whatever their masks.
  static absl::StatusOr<std::unique_ptr<SharedMemoryCommunicator>> Connect(std::shared_ptr<SharedMemorySegment> segment,
                                                                           uint32_t rank, absl::Duration timeout,
                                                                           uint32_t core_limit = UINT32_MAX);
  // Ends the job when a collective is still under way.
  ~SharedMemoryCommunicator() override;

  // From now on, started collectives run on a thread of their own, which may use every core that
  // the calling thread may; `has_own_core`: there is one that nobody computes on. Without it they
  // make no progress between Start and Wait. All ranks do the same, and none has a collective under
  // way.
  void StartThread(bool has_own_core);

  uint32_t rank() const override { return rank_; }
  uint32_t size() const override { return segment_->ranks(); }
  std::byte* window() override { return segment_->window(rank_); }
  uint64_t window_bytes() const override { return segment_->window_bytes(); }
  absl::StatusOr<CollectiveHandle> Prepare(const Mesh& mesh, const CollectiveSpec& spec) override;
  absl::Status Execute(CollectiveHandle handle, absl::Duration timeout) override;
  absl::Status Start(CollectiveHandle handle, absl::Duration timeout) override;
  absl::Status Wait(CollectiveHandle handle, absl::Duration timeout) override;
  absl::Status Poll() override { return segment_->abort_cause(); }
  absl::Status Barrier(absl::Duration timeout) override;
  absl::StatusOr<std::vector<std::string>> AllGatherBytes(std::string_view bytes, absl::Duration timeout) override;
  void Abort(const absl::Status& cause) override;
  void Finish() override;
  uint64_t sent_bytes() const override { return sent_bytes_; }

  // How many cores the ranks may use together, known once connected.
  uint32_t cores() const { return cores_; }
  // Where a rank might run when it joined.
  const cpu_set_t& CpusOf(uint32_t rank) const { return segment_->flag(rank).cpus; }

 private:
  // Who may still read a staging slot: `members`, until they have arrived `count` times.
  struct SlotUse {
    absl::Span<const uint32_t> members;
    uint32_t count = 0;
  };

  // A prepared collective between Start and Wait.
  struct Progress {
    bool is_under_way = false;
    uint32_t ticket = 0;       // with a thread
    bool has_arrived = false;  // without one: the peers may read and write here, the rest is up to Wait
    uint32_t arrival = 0;
  };

  SharedMemoryCommunicator(std::shared_ptr<SharedMemorySegment> segment, uint32_t rank);
  absl::Status Join(absl::Duration timeout, uint32_t core_limit);
  void MapPeers(const CollectivePlan& plan);
  absl::StatusOr<uint32_t> AcquireSlot(absl::Span<const uint32_t> members, absl::Duration timeout,
                                       const std::string& description);
  void ReleaseSlot(uint32_t slot);
  absl::Status CheckPrepared(CollectiveHandle handle) const;
  absl::Status CheckNothingUnderWay(const char* what) const;
  absl::Status Run(uint32_t index, absl::Duration timeout);
  absl::Status RunStaged(const CollectivePlan& plan, absl::Duration timeout);
  absl::Status Complete(const CollectivePlan& plan, uint32_t arrival, absl::Duration timeout);
  absl::Status WaitFor(absl::Span<const uint32_t> members, absl::Duration timeout, const std::string& description,
                       uint32_t count);
  absl::Status ErrorOf(const WaitResult& result, absl::Span<const uint32_t> members, uint32_t count,
                       absl::Duration timeout, const std::string& description) const;
  std::string DescriptionOf(uint32_t index) const;
  absl::Status ExchangeChunk(std::string_view bytes, absl::Duration timeout, absl::Span<std::string> parts);
  const std::byte* SourceOf(const CollectivePlan& plan, const OperandPlan& operand, uint32_t position, uint32_t slot);
  std::byte* TargetOf(const OperandPlan& operand, uint32_t rank);
  void Stage(const CollectivePlan& plan, uint32_t slot);
  void Move(const CollectivePlan& plan, uint32_t slot);
  void RunReductions(const CollectivePlan& plan, uint32_t slot);
  void RunCopies(const CollectivePlan& plan, uint32_t slot);
  void RunRanges(const CollectivePlan& plan, uint32_t slot);
  void RunAlone(const CollectivePlan& plan);

  std::shared_ptr<SharedMemorySegment> segment_;
  uint32_t rank_;
  uint32_t cores_ = 1;
  GroupBarrier barrier_;
  std::vector<uint32_t> world_;
  std::vector<std::unique_ptr<const CollectivePlan>> plans_;
  std::vector<Progress> progress_;  // one per plan
  uint32_t under_way_ = 0;          // how many are
  std::array<SlotUse, SharedMemorySegment::kSlots> slot_uses_;
  uint32_t last_slot_ = 0;
  ReduceScratch scratch_;
  std::vector<const std::byte*> sources_;  // by position, reused by every execution
  std::vector<std::byte*> targets_;
  uint64_t sent_bytes_ = 0;
  // What is above belongs to it while anything is under way.
  std::unique_ptr<CollectiveThread> thread_;
};

}  // namespace sgd::comm
