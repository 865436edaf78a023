// The communicator of GPUs: windows are device memory, collectives go to the stream in use; NCCL moves bytes between
// ranks.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/comm/collective_plan.h"
#include "runtime/comm/communicator.h"
#include "targets/gpu/device/collective_actions.h"
#include "targets/gpu/device/cuda_device.h"
#include "targets/gpu/device/nccl.h"
#include "targets/gpu/device/nccl_group.h"
#include "targets/gpu/device/progress_mark.h"

namespace sgd::cuda {

// NCCL decides the order of reductions, which is the same in every run on the same GPUs, unless the device says
// that this does not matter. Every set of axes has an NCCL communicator of its own, made when the first collective over
// it is prepared, split from that of all ranks where there is one, and the window is registered with each. NCCL is
// opened for the first group of more than one rank.
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
  absl::Status Enqueue(comm::CollectiveHandle handle) override;
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

  absl::Status OpenNccl();
  absl::StatusOr<NcclGroup*> GroupOf(const std::vector<comm::AxisRef>& axes, const comm::CollectivePlan& plan);
  absl::StatusOr<std::unique_ptr<NcclGroup>> MeetById(const comm::CollectivePlan& plan);

  CudaDevice& device_;
  comm::Control& control_;
  absl::Duration timeout_;
  std::unique_ptr<device::Arena> window_;
  std::shared_ptr<const Nccl> nccl_;
  std::unique_ptr<ProgressMark> mark_;                                  // the collective that began last, from 1 on
  std::map<std::vector<uint32_t>, std::unique_ptr<NcclGroup>> groups_;  // by axes
  const NcclGroup* world_ = nullptr;                                    // of groups_, the one of all ranks
  std::vector<Collective> collectives_;
  uint64_t sent_bytes_ = 0;
};

}  // namespace sgd::cuda
