// This rank's links to ranks of other stages of a pipeline: for each direction a communicator of NCCL of two ranks, so
// that the messages of a direction wait for each other and for nothing else. In one communicator a send would wait for
// receives that were enqueued before it, and two ranks that send to each other endlessly.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/collectives/communicator.h"
#include "targets/gpu/device/cuda_device.h"
#include "targets/gpu/device/nccl/nccl.h"
#include "targets/gpu/device/nccl/nccl_group.h"

namespace sgd::cuda {

// Of a job's ranks which are linked, and in which stages they are.
class LinkMap {
 public:
  // InvalidArgument where the ranks cannot be divided by the stages.
  static absl::StatusOr<LinkMap> Create(const comm::StageLinks& stages, uint32_t ranks, uint32_t rank);

  struct Link {
    uint32_t from, to;  // ranks, of which one is this one
  };
  // This rank's, by ranks: all ranks come to those that they share in the same order.
  const std::vector<Link>& links() const { return links_; }
  uint32_t ranks_of_stage() const { return ranks_of_stage_; }
  uint32_t stage() const { return rank_ / ranks_of_stage_; }

  // Which ids this rank makes: for its stage where it is the first of several ranks, then for its links from it.
  uint32_t ids() const { return IdsOf(rank_); }
  // Where the id of the stage, or of a link, is among those of all ranks: the rank that makes it, and its number there.
  std::pair<uint32_t, uint32_t> IdOfStage() const { return {stage() * ranks_of_stage_, 0}; }
  std::pair<uint32_t, uint32_t> IdOf(const Link& link) const;
  uint32_t IdsOf(uint32_t rank) const;

 private:
  bool MakesStageId(uint32_t rank) const { return ranks_of_stage_ > 1 && rank % ranks_of_stage_ == 0; }

  std::vector<std::pair<uint32_t, uint32_t>> stage_links_;
  uint32_t ranks_of_stage_ = 1, rank_ = 0;
  std::vector<Link> links_;
};

class NcclLinks {
 public:
  // Meets the peers of all links, with `ids` in the map's order, and sends a first message over each, for which NCCL
  // connects them: later ones wait for no host. Borrows the device.
  static absl::StatusOr<std::unique_ptr<NcclLinks>> Connect(CudaDevice& device, std::shared_ptr<const Nccl> nccl,
                                                            const LinkMap& map, std::span<const ncclUniqueId> ids,
                                                            const NcclGroup::Host& host, absl::Duration timeout);

  // Link by link in the order of all ranks, as they were made.
  ~NcclLinks();
  NcclLinks(const NcclLinks&) = delete;
  NcclLinks& operator=(const NcclLinks&) = delete;

  // InvalidArgument where there is none.
  absl::StatusOr<uint32_t> Find(uint32_t from, uint32_t to) const;

  // Enqueues; the peer does the other call with as many bytes.
  absl::Status Send(uint32_t link, const std::byte* source, uint64_t bytes, CUstream stream);
  absl::Status Receive(uint32_t link, std::byte* target, uint64_t bytes, CUstream stream);

  absl::Status Poll() const;
  void Abort();

 private:
  NcclLinks(CudaDevice& device, std::shared_ptr<const Nccl> nccl, absl::Duration timeout)
      : device_(device), nccl_(std::move(nccl)), timeout_(timeout) {}
  absl::Status SendFirst(const LinkMap& map, const NcclGroup::Host& host);
  absl::Status Finish(uint32_t link, absl::Status status, const char* what) const;

  CudaDevice& device_;
  std::shared_ptr<const Nccl> nccl_;
  absl::Duration timeout_;
  std::vector<LinkMap::Link> links_;
  std::vector<bool> sends_;                         // by link
  std::vector<std::unique_ptr<NcclGroup>> groups_;  // by link: the sender is rank 0, the receiver rank 1
};

}  // namespace sgd::cuda
