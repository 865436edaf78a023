// This rank's communicator of NCCL for one group of ranks. No call blocks, so that deadlines hold and the job's end is
// noticed while peers are waited for.
#pragma once

#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "targets/gpu/device/nccl/nccl.h"

namespace sgd::cuda {

class NcclGroup {
 public:
  // The rank's resources that a group uses; all must outlive it.
  struct Host {
    // Asked while peers are waited for: the cause of the job's end, if it has ended.
    std::function<absl::Status()> watch;
    // Makes the rank's device that of the calling thread.
    std::function<void()> use_device;
  };

  // Connects to the other members, who have the same id; DeadlineExceeded when they do not come. `max_blocks`: an
  // operation takes no more of the GPU's processors than that; 0 leaves it to NCCL.
  static absl::StatusOr<std::unique_ptr<NcclGroup>> Meet(std::shared_ptr<const Nccl> nccl, const ncclUniqueId& id,
                                                         uint32_t size, uint32_t position, Host host,
                                                         absl::Duration timeout, int max_blocks = 0);
  // The part of this group with the same color, in the order of positions, without another exchange of ids. All members
  // of this group call it.
  absl::StatusOr<std::unique_ptr<NcclGroup>> Split(uint32_t color, uint32_t position, absl::Duration timeout) const;

  // Registers memory of ncclMemAlloc with the members, who call it alike: the same bytes, at the same offset of their
  // allocations. Collectives whose operands are all in it read and write peers' memory directly. Does nothing where
  // the library cannot. The memory must outlive the group.
  absl::Status Register(std::byte* memory, uint64_t bytes, absl::Duration timeout);

  // Leaves in agreement with the other members, when nothing has gone wrong: what they still send or receive is
  // completed. Graphs that hold its operations must be gone: NCCL waits for their end.
  ~NcclGroup();
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;

  ncclComm_t get() const { return group_; }
  // Waits until what the last call began is enqueued.
  absl::Status Settle(absl::Duration timeout) const;
  // The error of a peer or of the network, if there is one by now.
  absl::Status Poll() const;
  // Ends everything in flight, and returns at once. The group is of no more use, and its communicator is freed when the
  // graphs that hold its operations are gone.
  void Abort();

 private:
  NcclGroup(std::shared_ptr<const Nccl> nccl, Host host) : nccl_(std::move(nccl)), host_(std::move(host)) {}
  absl::Status Deregister();

  std::shared_ptr<const Nccl> nccl_;
  Host host_;
  ncclComm_t group_ = nullptr;
  ncclWindow_t window_ = nullptr;    // of symmetric memory
  void* registration_ = nullptr;     // of other memory
  std::future<ncclResult_t> abort_;  // valid from Abort on
};

}  // namespace sgd::cuda
