// How ranks on one host agree, wait for each other and hear of failures, over a shared memory segment; ranks are
// processes or, in tests, threads.
#pragma once

#include <sched.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "runtime/comm/control/control.h"
#include "runtime/comm/shared_memory/group_barrier.h"
#include "runtime/comm/shared_memory/shared_memory_agreements.h"
#include "runtime/comm/shared_memory/shared_memory_segment.h"

namespace sgd::comm {

// A wait for ranks of one host: until all `members` have arrived `count` times.
struct HostWait {
  absl::Span<const uint32_t> members;
  uint32_t count = 0;
};

class SharedMemoryControl final : public Control {
 public:
  // Joins the segment as `rank` and waits for all other ranks to do the same. `core_limit` bounds
  // the cores whose time the ranks may use together, whatever their masks. `job_ranks`: what they are called in
  // messages, where they are not all ranks of the job.
  static absl::StatusOr<std::unique_ptr<SharedMemoryControl>> Connect(std::shared_ptr<SharedMemorySegment> segment,
                                                                      uint32_t rank, absl::Duration timeout,
                                                                      uint32_t core_limit,
                                                                      std::vector<uint32_t> job_ranks = {});

  uint32_t rank() const override { return rank_; }
  uint32_t size() const override { return segment_->ranks(); }
  bool spans_hosts() const override { return false; }
  absl::Status Barrier(absl::Duration timeout) override;
  absl::StatusOr<std::vector<std::string>> AllGatherBytes(std::string_view bytes, absl::Duration timeout) override;
  Agreements& beside() override { return beside_; }
  absl::Status Poll() override { return segment_->abort_cause(); }
  void Abort(const absl::Status& cause) override { segment_->Abort(JobRank(rank_), cause); }
  void RequestStop(int signal) override { segment_->RequestStop(signal); }
  absl::StatusOr<bool> BeginStep(uint64_t step, absl::Duration timeout) override;
  int stop_signal() override { return segment_->stop_signal(); }
  void MarkStateKept() override { segment_->MarkStateKept(); }
  void NoteWait(WaitKind kind, const std::string& description, absl::Span<const uint32_t> awaited) override;
  void EndWait(WaitKind kind) override;
  std::optional<Blame> BlameFor(const RankWait& own) override;
  bool Publish(Board board, std::string_view bytes) override {
    segment_->flag(rank_).published[static_cast<size_t>(board)].Write(bytes);
    return true;
  }
  std::string PublishedBy(Board board, uint32_t rank) override {
    return segment_->flag(rank).published[static_cast<size_t>(board)].Read().value_or("");
  }
  void Finish() override { segment_->flag(rank_).state.store(RankState::kDone); }

  // How many cores the ranks may use together.
  uint32_t cores() const { return cores_; }
  // Where a rank might run when it joined.
  const cpu_set_t& CpusOf(uint32_t rank) const { return segment_->flag(rank).cpus; }

  // The control of the whole job, where that has ranks on other hosts: through it ranks see each other's waits.
  // Borrowed.
  void set_job(Control* job) { job_ = job; }

  // The number of a rank in messages.
  uint32_t JobRank(uint32_t rank) const { return job_ranks_.empty() ? rank : job_ranks_[rank]; }

  // The rest is for the communicator of the same ranks, whose collectives use the same flags and staging slots.

  SharedMemorySegment& segment() { return *segment_; }
  GroupBarrier& barrier() { return barrier_; }

  // Names the next prepared collective; borrowed.
  void AddName(std::string_view description) { names_.push_back(description); }

  // See Communicator::UseStages: from now on this rank's arrivals are compared with those of its own stage alone, and
  // the whole job meets at arrivals of its own.
  absl::Status UseStages(uint32_t stages, absl::Duration timeout);

  // How many collectives are in flight: with one, barriers and agreements are refused.
  uint32_t under_way() const { return under_way_; }
  void set_under_way(uint32_t count) { under_way_ = count; }

  // Waits until all members have arrived `count` times; errors as Communicator's, beginning with `description`.
  absl::Status WaitFor(absl::Span<const uint32_t> members, absl::Duration timeout, const std::string& description,
                       uint32_t count);

  // The same at a barrier of the same rank with arrivals of its own, and as a wait of that kind.
  absl::Status WaitAt(GroupBarrier& barrier, absl::Span<const uint32_t> members, absl::Duration timeout,
                      const std::string& description, uint32_t count, WaitKind kind);
  // All ranks.
  absl::Span<const uint32_t> world() const { return world_; }

  // As WaitFor, but returns at once: whether all members have arrived.
  absl::StatusOr<bool> HaveArrived(const HostWait& wait, const std::string& description);
  // The members that have not arrived, as ranks of the job.
  std::vector<uint32_t> MissingOf(const HostWait& wait) const;
  // DeadlineExceeded, naming the ranks at fault.
  absl::Status Late(const HostWait& wait, absl::Duration timeout, const std::string& description);

  // The next staging slot of every rank is free once this wait has ended; nothing: it is free.
  std::optional<HostWait> WaitForSlot() const;
  // Takes that slot, the same one for all of `members`.
  uint32_t TakeSlot(absl::Span<const uint32_t> members);
  // After the arrival that says that this rank has read it.
  void ReleaseSlot(uint32_t slot) { slot_uses_[slot].count = barrier_.count(); }

 private:
  // The ranks that may still read a staging slot: `members`, until they have arrived `count` times.
  struct SlotUse {
    absl::Span<const uint32_t> members;
    uint32_t count = 0;
  };

  SharedMemoryControl(std::shared_ptr<SharedMemorySegment> segment, uint32_t rank);
  absl::Status Join(absl::Duration timeout, uint32_t core_limit);
  absl::StatusOr<uint32_t> AcquireSlot(absl::Span<const uint32_t> members, absl::Duration timeout,
                                       const std::string& description);
  absl::Status CheckNothingUnderWay(const char* what) const;
  absl::Status ExchangeChunk(std::string_view bytes, absl::Duration timeout, absl::Span<std::string> parts);
  absl::Status ErrorOf(const GroupBarrier& barrier, const WaitResult& result, absl::Span<const uint32_t> members,
                       uint32_t count, absl::Duration timeout, const std::string& description, bool is_beside = false);
  std::string NameOf(uint32_t index) const;
  std::vector<uint32_t> MissingFrom(const GroupBarrier& barrier, absl::Span<const uint32_t> members,
                                    uint32_t count) const;
  // The places of ranks that hold up this one, for `blame`; takes a second at most.
  void AskPlaces(Blame& blame);
  std::string PlaceOf(uint32_t rank, absl::Time end);
  std::vector<RankReport> ReadReports(int64_t now, bool with_beside) const;

  std::shared_ptr<SharedMemorySegment> segment_;
  uint32_t rank_;
  uint32_t cores_ = 1;
  GroupBarrier barrier_;
  std::optional<SharedMemoryAgreements> of_all_;  // with stages: whatever these have executed
  SharedMemoryAgreements beside_;
  std::vector<uint32_t> world_;
  Control* job_ = nullptr;
  std::vector<uint32_t> job_ranks_;      // empty where they are the same
  std::vector<std::string_view> names_;  // of collectives, by index
  uint32_t under_way_ = 0;
  std::array<SlotUse, SharedMemorySegment::kSlots> slot_uses_;
  uint32_t last_slot_ = 0;
};

}  // namespace sgd::comm
