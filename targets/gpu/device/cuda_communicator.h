// The communicator of GPUs: windows are device memory, collectives go to the queue in use; NCCL moves bytes between
// ranks.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/comm/collective_plan.h"
#include "runtime/comm/communicator.h"
#include "targets/gpu/device/collective_moves.h"
#include "targets/gpu/device/cuda_device.h"
#include "targets/gpu/device/nccl.h"

namespace sgd::cuda {

// Sums between ranks are taken in NCCL's order, which is the same in every run on the same GPUs. Every set of axes has
// an NCCL communicator of its own, made when the first collective over it is prepared. NCCL is opened for the first
// group of more than one rank.
class CudaCommunicator final : public comm::Communicator {
 public:
  // Borrows both: `control` tells ranks of each other, and of failures. ResourceExhausted when the GPU has not that
  // much memory.
  static absl::StatusOr<std::unique_ptr<CudaCommunicator>> Create(CudaDevice& device, comm::Communicator& control,
                                                                  uint64_t window_bytes, absl::Duration timeout);

  uint32_t rank() const override { return control_.rank(); }
  uint32_t size() const override { return control_.size(); }
  std::byte* window() override { return window_->data(); }
  uint64_t window_bytes() const override { return window_->size(); }
  // Ranks meet here for the first collective over a set of axes. Unimplemented for reductions that NCCL has not.
  absl::StatusOr<comm::CollectiveHandle> Prepare(const comm::Mesh& mesh, const comm::CollectiveSpec& spec) override;
  absl::Status Enqueue(comm::CollectiveHandle handle) override;
  absl::Status Poll() override;
  // Enqueued and waited for.
  absl::Status Execute(comm::CollectiveHandle handle, absl::Duration timeout) override;
  absl::Status Start(comm::CollectiveHandle handle, absl::Duration timeout) override;
  absl::Status Wait(comm::CollectiveHandle handle, absl::Duration timeout) override;
  absl::Status Barrier(absl::Duration timeout) override { return control_.Barrier(timeout); }
  absl::StatusOr<std::vector<std::string>> AllGatherBytes(std::string_view bytes, absl::Duration timeout) override {
    return control_.AllGatherBytes(bytes, timeout);
  }
  void Abort(const absl::Status& cause) override;
  void Finish() override { control_.Finish(); }
  uint64_t sent_bytes() const override { return sent_bytes_; }
  void CountSent(uint64_t bytes) override { sent_bytes_ += bytes; }

 private:
  // A call of the driver or of NCCL, for the stream it is given.
  using Action = std::function<absl::Status(CUstream stream)>;

  struct Collective {
    std::string description;
    uint64_t sent_bytes = 0;
    NcclGroup* group = nullptr;  // null for a group of one rank
    std::vector<Action> actions;
    bool has_started = false;
  };

  CudaCommunicator(CudaDevice& device, comm::Communicator& control, absl::Duration timeout)
      : device_(device), control_(control), timeout_(timeout) {}

  absl::StatusOr<NcclGroup*> GroupOf(const comm::Mesh& mesh, const std::vector<comm::AxisRef>& axes,
                                     const comm::CollectivePlan& plan);
  absl::Status AddReductions(const comm::CollectiveSpec& spec, const comm::CollectivePlan& plan,
                             Collective& collective);
  absl::Status AddMoves(const comm::Mesh& mesh, const comm::CollectiveSpec& spec, const comm::CollectivePlan& plan,
                        Collective& collective);
  absl::Status AddGather(const comm::CollectiveOperand& operand, uint64_t ranks, Collective& collective);
  void AddExchange(const std::vector<Move>& moves, uint32_t position, std::byte* staging, Collective& collective);
  void AddReduceScatter(const comm::CollectiveOperand& operand, ncclDataType_t type, ncclRedOp_t reduce, uint64_t ranks,
                        std::byte* staging, Collective& collective);
  // Copies rows; both sides are device addresses.
  void AddCopy(const comm::StridedCopy& rows, const std::byte* source, std::byte* target, Collective& collective);
  // Memory for one collective at a time, of at least so many bytes.
  absl::StatusOr<std::byte*> Staging(uint64_t bytes);

  CudaDevice& device_;
  comm::Communicator& control_;
  absl::Duration timeout_;
  std::unique_ptr<device::Arena> window_;
  std::vector<std::unique_ptr<device::Arena>> staging_;  // the last one is the largest
  std::shared_ptr<const Nccl> nccl_;
  std::map<std::vector<uint32_t>, std::unique_ptr<NcclGroup>> groups_;  // by axes
  std::vector<Collective> collectives_;
  uint64_t sent_bytes_ = 0;
};

}  // namespace sgd::cuda
