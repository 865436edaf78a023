// The communicator of GPUs: windows are device memory, collectives go to the stream in use; NCCL moves bytes between
// ranks.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/comm/collectives/communicator.h"
#include "runtime/comm/one_host/collective_plan.h"
#include "targets/gpu/device/collective_actions.h"
#include "targets/gpu/device/cuda_device.h"
#include "targets/gpu/device/memory/progress_mark.h"
#include "targets/gpu/device/nccl/nccl.h"
#include "targets/gpu/device/nccl/nccl_group.h"
#include "targets/gpu/device/nccl_links.h"

namespace sgd::cuda {

// NCCL decides the order of reductions, which is the same in every run on the same GPUs, unless the device says
// that this does not matter. Every set of axes has an NCCL communicator of its own, made when the first collective over
// it is prepared, split from that of all ranks where there is one, and the window is registered with each. NCCL is
// opened for the first group of more than one rank.
//
// With stages, the ranks of each have a communicator of their own from which groups are split, and links to ranks of
// other stages.
class CudaCommunicator final : public comm::Communicator, public comm::StreamCollectives {
 public:
  // Borrows both: `control` tells ranks of each other, and of failures. ResourceExhausted when the GPU has not that
  // much memory.
  static absl::StatusOr<std::unique_ptr<CudaCommunicator>> Create(CudaDevice& device, comm::Control& control,
                                                                  uint64_t window_bytes, absl::Duration timeout);

  comm::Control& control() const override { return control_; }
  std::byte* window() override { return window_->data(); }
  uint64_t window_bytes() const override { return window_->size(); }
  // Ranks meet here for the first collective over a set of axes. Unimplemented for reductions that NCCL has not.
  absl::StatusOr<comm::CollectiveHandle> Prepare(const comm::Mesh& mesh, const comm::CollectiveSpec& spec) override;
  absl::Status UseStages(const comm::StageLinks& stages, absl::Duration timeout) override;
  absl::StatusOr<comm::ChannelHandle> PrepareChannel(const comm::ChannelSpec& spec) override;
  absl::Status Enqueue(comm::CollectiveHandle handle) override;
  absl::Status EnqueueSend(comm::ChannelHandle handle, const std::byte* source) override;
  absl::Status EnqueueReceive(comm::ChannelHandle handle, std::byte* target) override;
  absl::Status Poll() override;
  absl::Status Late(absl::Duration waited) override;
  // Enqueued and waited for.
  absl::Status Execute(comm::CollectiveHandle handle, absl::Duration timeout) override;
  absl::Status Start(comm::CollectiveHandle handle, absl::Duration timeout) override;
  absl::Status Wait(comm::CollectiveHandle handle, absl::Duration timeout) override;
  StreamCollectives* stream_collectives() override { return this; }
  void EndJob(const absl::Status& cause) override;
  uint64_t sent_bytes() const override { return sent_bytes_; }
  void CountSent(uint64_t bytes) override { sent_bytes_ += bytes; }

 private:
  struct Collective {
    std::string description;
    uint64_t sent_bytes = 0;
    NcclGroup* group = nullptr;  // null for a group of one rank
    std::vector<Action> actions;
    bool has_started = false;
  };

  CudaCommunicator(CudaDevice& device, comm::Control& control, absl::Duration timeout)
      : device_(device), control_(control), timeout_(timeout) {}

  struct ChannelEnd {
    comm::ChannelSpec spec;
    uint32_t link = 0;
  };

  // `links`: how many this rank will have.
  absl::Status OpenNccl(uint32_t links);
  NcclGroup::Host HostOfGroups();
  absl::StatusOr<std::vector<std::vector<ncclUniqueId>>> ExchangeIds(const LinkMap& map);
  absl::Status EnqueueMessage(comm::ChannelHandle handle, const std::function<absl::Status(CUstream stream)>& enqueue);
  // The collectives in flight by the marks, in order.
  std::string UnderWay() const;
  absl::Status PollGroups() const;
  absl::StatusOr<NcclGroup*> GroupOf(const std::vector<comm::AxisRef>& axes, const comm::CollectivePlan& plan);
  absl::StatusOr<std::unique_ptr<NcclGroup>> MeetById(const comm::CollectivePlan& plan);

  CudaDevice& device_;
  comm::Control& control_;
  absl::Duration timeout_;
  std::unique_ptr<device::Arena> window_;
  std::shared_ptr<const Nccl> nccl_;
  // The collective that began last, from 1 on, and then for each link the end of a channel whose message is in flight;
  // 0 where there is none, with stages also when a collective is done.
  std::unique_ptr<ProgressMark> mark_;
  std::unique_ptr<NcclGroup> stage_;                                    // of several ranks; null without stages
  std::map<std::vector<uint32_t>, std::unique_ptr<NcclGroup>> groups_;  // by axes
  const NcclGroup* world_ = nullptr;  // the one of all ranks, of groups_, or that of the stage
  bool has_stages_ = false;
  std::unique_ptr<NcclLinks> links_;  // null without stages
  std::vector<Collective> collectives_;
  std::vector<ChannelEnd> channels_;
  uint64_t sent_bytes_ = 0;
};

}  // namespace sgd::cuda
