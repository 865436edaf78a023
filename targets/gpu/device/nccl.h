// The functions of NCCL that we call, found at run time, and its errors as statuses.
#pragma once

#include <nccl.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "targets/gpu/device/dynamic_library.h"

namespace sgd::cuda {

#define SGD_NCCL_FUNCTIONS(F) \
  F(ncclGetVersion)           \
  F(ncclGetErrorString)       \
  F(ncclGetUniqueId)          \
  F(ncclCommInitRankConfig)   \
  F(ncclCommGetAsyncError)    \
  F(ncclCommAbort)            \
  F(ncclAllReduce)            \
  F(ncclReduceScatter)        \
  F(ncclAllGather)            \
  F(ncclSend)                 \
  F(ncclRecv)                 \
  F(ncclGroupStart)           \
  F(ncclGroupEnd)

class Nccl {
 public:
  // FailedPrecondition when the library is missing or older than 2.18.
  static absl::StatusOr<std::shared_ptr<const Nccl>> Open();

#define SGD_DECLARE(name) decltype(&::name) name = nullptr;
  SGD_NCCL_FUNCTIONS(SGD_DECLARE)
#undef SGD_DECLARE

  std::string version() const;  // e.g. 2.28.9
  // OK also for work that goes on behind a call: see NcclGroup::Settle.
  absl::Status Check(ncclResult_t result, const std::string& what) const;

 private:
  explicit Nccl(DynamicLibrary library) : library_(std::move(library)) {}

  DynamicLibrary library_;
  int version_ = 0;
};

// This rank's communicator of one group.
class NcclGroup {
 public:
  // Meets the other members, who were given the same id; DeadlineExceeded when they do not come.
  static absl::StatusOr<std::unique_ptr<NcclGroup>> Meet(std::shared_ptr<const Nccl> nccl, const ncclUniqueId& id,
                                                         uint32_t size, uint32_t position, absl::Duration timeout);
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
  NcclGroup(std::shared_ptr<const Nccl> nccl, ncclComm_t group) : nccl_(std::move(nccl)), group_(group) {}

  std::shared_ptr<const Nccl> nccl_;
  ncclComm_t group_;
};

}  // namespace sgd::cuda
