// This rank's communicator of NCCL for one group of ranks. No call blocks, so that deadlines hold and the job's end is
// noticed while peers are waited for.
#pragma once

#include <nccl.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "targets/gpu/device/nccl.h"

namespace sgd::cuda {

class NcclGroup {
 public:
  // Asked while peers are waited for: the cause of the job's end, if it has ended.
  using Watch = std::function<absl::Status()>;

  // Meets the other members, who were given the same id; DeadlineExceeded when they do not come.
  static absl::StatusOr<std::unique_ptr<NcclGroup>> Meet(std::shared_ptr<const Nccl> nccl, const ncclUniqueId& id,
                                                         uint32_t size, uint32_t position, Watch watch,
                                                         absl::Duration timeout);
  // The part of this group with the same color, in the order of positions, without another exchange of ids. All members
  // of this group call it.
  absl::StatusOr<std::unique_ptr<NcclGroup>> Split(uint32_t color, uint32_t position, absl::Duration timeout) const;

  // Leaves in agreement with the other members, when nothing has gone wrong: what they still send or receive is
  // completed. Graphs that hold its operations must be gone.
  ~NcclGroup();
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;

  ncclComm_t get() const { return group_; }
  // Waits until what the last call began is enqueued.
  absl::Status Settle(absl::Duration timeout) const;
  // The error of a peer or of the network, if there is one by now.
  absl::Status Poll() const;
  // Ends everything under way. The group is of no more use.
  void Abort();

 private:
  NcclGroup(std::shared_ptr<const Nccl> nccl, Watch watch) : nccl_(std::move(nccl)), watch_(std::move(watch)) {}

  std::shared_ptr<const Nccl> nccl_;
  Watch watch_;
  ncclComm_t group_ = nullptr;
};

}  // namespace sgd::cuda
