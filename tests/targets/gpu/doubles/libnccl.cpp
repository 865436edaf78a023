// A double of libnccl.so.2 for tests: ranks exchange whole operands and reduce them in rank order, in the order of the
// stream that they are given. It is stricter than NCCL: what would hang or give wrong bytes there ends the process here
// with a message, and calls are never complete before they are asked for.
//
// SGD_EMULATED_NCCL_VERSION says which version it is; with SGD_EMULATED_NCCL_ERROR=N the N-th operation of every
// communicator of this process meets an error of the network and never ends.
#include <cuda.h>
#include <nccl.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <functional>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/targets/gpu/doubles/channels.h"
#include "tests/targets/gpu/doubles/nccl_reductions.h"

extern "C" void* sgd_emulated_resolve(uint64_t address, uint64_t bytes);
extern "C" CUresult sgd_emulated_enqueue(CUstream stream, CUresult (*function)(void*), void* data);

namespace {

using sgd::emulated::Channels;
using sgd::emulated::Message;
using sgd::emulated::SizeOf;

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "double of NCCL: %s\n", what.c_str());
  abort();
}

std::byte* Resolve(const void* data, uint64_t bytes) {
  auto* memory = static_cast<std::byte*>(sgd_emulated_resolve(reinterpret_cast<uint64_t>(data), bytes));
  if (memory == nullptr) Fail("an operand is not in memory");
  return memory;
}

struct Split {
  int index;
  ncclComm_t* child;  // written when all have come
};

// A communicator of one rank.
struct Comm {
  explicit Comm(Channels* channels) : channels(channels) {}

  Channels* channels;
  bool is_aborted = false;
  bool is_finalized = false;
  bool is_pending = false;  // the last call goes on behind it
  ncclResult_t error = ncclSuccess;
  std::optional<Split> split;
  int splits = 0;
  int64_t begun = 0;  // operations
  const class Job* running = nullptr;
};

Comm& Of(ncclComm_t comm) { return *reinterpret_cast<Comm*>(comm); }

// For calls that need a communicator in order.
Comm& Ready(ncclComm_t handle, const char* call) {
  Comm& comm = Of(handle);
  if (comm.is_aborted) Fail(std::string(call) + " after ncclCommAbort");
  if (comm.is_finalized) Fail(std::string(call) + " after ncclCommFinalize");
  if (comm.is_pending || comm.split.has_value() || !comm.channels->AreAllHere())
    Fail(std::string(call) + " before the call before it was complete");
  return comm;
}

// What must be the same at both ends of a message.
struct Header {
  char call[16] = {};
  uint64_t bytes = 0;
  int type = 0, reduce = 0;
};

int64_t Setting(const char* name, int64_t otherwise) {
  const char* value = getenv(name);
  return value == nullptr ? otherwise : atoll(value);
}

// One operation, which a graph may run any number of times.
class Job {
 public:
  Job(Comm& comm, const char* call, int type, int reduce) : comm_(comm) {
    std::snprintf(header_.call, sizeof(header_.call), "%s", call);
    header_.type = type;
    header_.reduce = reduce;
  }
  virtual ~Job() = default;

  CUresult Advance() {
    if (comm_.is_aborted) return CUDA_SUCCESS;  // as a kernel that is told to leave
    if (!std::exchange(has_begun_, true)) Begin();
    if (comm_.error != ncclSuccess) return CUDA_ERROR_NOT_READY;
    comm_.channels->Advance(headers_out_);
    if (!headers_out_.empty()) return CUDA_ERROR_NOT_READY;
    if (!std::exchange(is_checked_, true)) CheckHeaders();
    comm_.channels->Advance(messages_);
    if (!messages_.empty()) return CUDA_ERROR_NOT_READY;
    Finish();
    has_begun_ = is_checked_ = false;
    comm_.running = nullptr;
    return CUDA_SUCCESS;
  }

 protected:
  virtual std::vector<Message> Messages() = 0;
  virtual void Finish() {}
  Comm& comm_;

 private:
  void Begin() {
    if (++comm_.begun == Setting("SGD_EMULATED_NCCL_ERROR", -1)) comm_.error = ncclRemoteError;
    if (comm_.running != nullptr) Fail("two operations of one communicator at the same time");
    comm_.running = this;
    messages_ = Messages();
    headers_.assign(messages_.size(), header_);
    expected_ = headers_;
    headers_out_.clear();
    for (size_t i = 0; i < messages_.size(); ++i) {
      expected_[i].bytes = headers_[i].bytes = messages_[i].bytes;
      headers_out_.push_back(
          {messages_[i].peer, reinterpret_cast<std::byte*>(&headers_[i]), sizeof(Header), messages_[i].is_sent});
    }
  }

  void CheckHeaders() const {
    for (size_t i = 0; i < headers_.size(); ++i) {
      const Header &mine = expected_[i], &theirs = headers_[i];
      if (std::memcmp(&mine, &theirs, sizeof(Header)) == 0) continue;
      Fail("ranks differ: this one does " + Text(mine) + ", another one " + Text(theirs));
    }
  }

  static std::string Text(const Header& header) {
    return std::string(header.call, strnlen(header.call, sizeof(header.call))) + " of " + std::to_string(header.bytes) +
           " bytes, type " + std::to_string(header.type) + ", reduction " + std::to_string(header.reduce);
  }

  Header header_;
  bool has_begun_ = false, is_checked_ = false;
  std::vector<Header> headers_, expected_;
  std::vector<Message> headers_out_, messages_;
};

// Sends part r of the source to rank r, or all of it to everybody, and reduces what comes.
class ReductionJob final : public Job {
 public:
  ReductionJob(Comm& comm, const void* source, void* target, uint64_t count, ncclDataType_t type, ncclRedOp_t reduce,
               bool scatters)
      : Job(comm, scatters ? "ReduceScatter" : "AllReduce", type, reduce),
        source_(source),
        target_(target),
        count_(count),
        type_(type),
        reduce_(reduce),
        scatters_(scatters) {}

 private:
  std::vector<Message> Messages() override {
    const uint64_t bytes = count_ * SizeOf(type_), n = static_cast<uint64_t>(comm_.channels->ranks());
    std::byte* const from = Resolve(source_, scatters_ ? bytes * n : bytes);
    parts_.assign(n, std::vector<std::byte>(bytes));
    std::vector<Message> messages;
    for (int rank = 0; rank < comm_.channels->ranks(); ++rank) {
      std::byte* const part = from + (scatters_ ? static_cast<uint64_t>(rank) * bytes : 0);
      std::vector<std::byte>& received = parts_[static_cast<size_t>(rank)];
      if (rank == comm_.channels->rank()) {
        std::copy_n(part, bytes, received.data());
        continue;
      }
      messages.push_back({rank, part, bytes, true});
      messages.push_back({rank, received.data(), bytes, false});
    }
    return messages;
  }
  void Finish() override {
    sgd::emulated::Reduce(type_, parts_, count_, reduce_, Resolve(target_, count_ * SizeOf(type_)));
  }

  const void* source_;
  void* target_;
  uint64_t count_;
  ncclDataType_t type_;
  ncclRedOp_t reduce_;
  bool scatters_;
  std::vector<std::vector<std::byte>> parts_;
};

class GatherJob final : public Job {
 public:
  GatherJob(Comm& comm, const void* source, void* target, uint64_t bytes)
      : Job(comm, "AllGather", 0, 0), source_(source), target_(target), bytes_(bytes) {}

 private:
  std::vector<Message> Messages() override {
    std::byte* const from = Resolve(source_, bytes_);
    std::byte* const to = Resolve(target_, bytes_ * static_cast<uint64_t>(comm_.channels->ranks()));
    std::vector<Message> messages;
    for (int rank = 0; rank < comm_.channels->ranks(); ++rank) {
      std::byte* const part = to + static_cast<uint64_t>(rank) * bytes_;
      if (rank == comm_.channels->rank()) {
        std::memmove(part, from, bytes_);
        continue;
      }
      messages.push_back({rank, from, bytes_, true});
      messages.push_back({rank, part, bytes_, false});
    }
    return messages;
  }

  const void* source_;
  void* target_;
  uint64_t bytes_;
};

// Sends and receives of a group; a message of no bytes takes part as well.
class ExchangeJob final : public Job {
 public:
  explicit ExchangeJob(Comm& comm) : Job(comm, "Send/Recv", 0, 0) {}
  void Add(const Message& message) { addresses_.push_back(message); }

 private:
  std::vector<Message> Messages() override {
    std::vector<Message> resolved = addresses_;
    for (Message& message : resolved) message.memory = Resolve(message.memory, message.bytes);
    return resolved;
  }

  std::vector<Message> addresses_;  // of the device
};

thread_local int depth = 0;                // of the groups of calls that this thread has begun
thread_local std::vector<Comm*> enqueued;  // since then

ncclResult_t Enqueue(Comm& comm, cudaStream_t stream, std::unique_ptr<Job> job) {
  const auto advance = [](void* data) { return static_cast<Job*>(data)->Advance(); };
  // A graph may run it again: never freed.
  if (sgd_emulated_enqueue(reinterpret_cast<CUstream>(stream), advance, job.release()) != CUDA_SUCCESS)
    return ncclUnhandledCudaError;
  if (depth > 0) return enqueued.push_back(&comm), ncclSuccess;
  comm.is_pending = true;
  return ncclInProgress;
}

// Sends and receives of the group that this thread has begun.
struct Group {
  Comm* comm;
  cudaStream_t stream;
  std::unique_ptr<ExchangeJob> job;
};
thread_local std::vector<Group> groups;

ncclResult_t Add(ncclComm_t handle, cudaStream_t stream, Message message) {
  Comm& comm = Ready(handle, message.is_sent ? "ncclSend" : "ncclRecv");
  if (depth == 0) Fail("a send or a receive outside a group");
  if (message.peer < 0 || message.peer >= comm.channels->ranks() || message.peer == comm.channels->rank())
    return ncclInvalidArgument;
  for (Group& group : groups) {
    if (group.comm == &comm && group.stream == stream) return group.job->Add(message), ncclSuccess;
  }
  groups.push_back({&comm, stream, std::make_unique<ExchangeJob>(comm)});
  groups.back().job->Add(message);
  return ncclSuccess;
}

ncclResult_t CheckConfig(const ncclConfig_t* config) {
  if (config == nullptr || config->magic != 0xcafebeef || config->size > sizeof(ncclConfig_t))
    return ncclInvalidArgument;
  if (config->blocking != 0) Fail("a communicator that may block for ever");
  return ncclSuccess;
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  *version = static_cast<int>(Setting("SGD_EMULATED_NCCL_VERSION", NCCL_VERSION_CODE));
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclRemoteError ? "remote process exited or there was a network error" : "of the double of NCCL";
}

const char* ncclGetLastError(ncclComm_t) { return "last error of the double"; }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static std::atomic<int> count{0};
  std::snprintf(id->internal, sizeof(id->internal), "/sgd_nccl_%d_%d", getpid(), ++count);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config) {
  if (const ncclResult_t result = CheckConfig(config); result != ncclSuccess) return result;
  Channels* channels = Channels::Open(id.internal, ranks, rank);
  if (channels == nullptr) return ncclSystemError;
  *comm = reinterpret_cast<ncclComm_t>(new Comm(channels));
  return ncclInProgress;
}

ncclResult_t ncclCommSplit(ncclComm_t handle, int color, int key, ncclComm_t* child, ncclConfig_t* config) {
  if (const ncclResult_t result = CheckConfig(config); result != ncclSuccess) return result;
  Comm& comm = Ready(handle, "ncclCommSplit");
  if (comm.splits == Channels::kMaxSplits) return ncclInternalError;
  comm.split = Split{comm.splits++, child};
  comm.channels->BeginSplit(comm.split->index, color, key);
  return ncclInProgress;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t handle, ncclResult_t* error) {
  Comm& comm = Of(handle);
  if (comm.is_aborted) Fail("ncclCommGetAsyncError after ncclCommAbort");
  *error = ncclInProgress;
  if (comm.error != ncclSuccess) return *error = comm.error, ncclSuccess;
  if (!comm.channels->AreAllHere() || std::exchange(comm.is_pending, false)) return ncclSuccess;
  if (comm.is_finalized && !comm.channels->AreAllFinalized()) return ncclSuccess;
  if (comm.split.has_value()) {
    const std::optional<Channels*> child = comm.channels->EndSplit(comm.split->index);
    if (!child.has_value()) return ncclSuccess;
    *comm.split->child = reinterpret_cast<ncclComm_t>(new Comm(*child));
    comm.split.reset();
  }
  *error = ncclSuccess;
  return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t handle) {
  Comm& comm = Ready(handle, "ncclCommFinalize");
  if (comm.running != nullptr) Fail("ncclCommFinalize with an operation under way");
  comm.is_finalized = true;
  comm.channels->Finalize();
  return ncclInProgress;
}

ncclResult_t ncclCommDestroy(ncclComm_t handle) {
  if (!Of(handle).is_finalized) Fail("ncclCommDestroy before ncclCommFinalize");
  return ncclSuccess;
}

// Work under way may still use it.
ncclResult_t ncclCommAbort(ncclComm_t handle) {
  Comm& comm = Of(handle);
  if (comm.is_aborted) Fail("ncclCommAbort a second time");
  comm.is_aborted = true;
  comm.channels->Abandon();
  return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* source, void* target, size_t count, ncclDataType_t type, ncclRedOp_t reduce,
                           ncclComm_t handle, cudaStream_t stream) {
  Comm& comm = Ready(handle, "ncclAllReduce");
  return Enqueue(comm, stream,
                 std::make_unique<ReductionJob>(comm, source, target, count, type, reduce, /*scatters=*/false));
}

ncclResult_t ncclReduceScatter(const void* source, void* target, size_t count, ncclDataType_t type, ncclRedOp_t reduce,
                               ncclComm_t handle, cudaStream_t stream) {
  Comm& comm = Ready(handle, "ncclReduceScatter");
  return Enqueue(comm, stream,
                 std::make_unique<ReductionJob>(comm, source, target, count, type, reduce, /*scatters=*/true));
}

ncclResult_t ncclAllGather(const void* source, void* target, size_t count, ncclDataType_t type, ncclComm_t handle,
                           cudaStream_t stream) {
  Comm& comm = Ready(handle, "ncclAllGather");
  return Enqueue(comm, stream, std::make_unique<GatherJob>(comm, source, target, count * SizeOf(type)));
}

ncclResult_t ncclSend(const void* data, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return Add(comm, stream, {peer, static_cast<std::byte*>(const_cast<void*>(data)), count * SizeOf(type), true});
}

ncclResult_t ncclRecv(void* data, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
  return Add(comm, stream, {peer, static_cast<std::byte*>(data), count * SizeOf(type), false});
}

ncclResult_t ncclGroupStart() {
  ++depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (depth == 0) Fail("the end of a group that was not begun");
  if (--depth > 0) return ncclSuccess;
  ncclResult_t result = enqueued.empty() ? ncclSuccess : ncclInProgress;
  for (Comm* comm : std::exchange(enqueued, {})) comm->is_pending = true;
  for (Group& group : std::exchange(groups, {})) {
    result = Enqueue(*group.comm, group.stream, std::move(group.job));
    if (result != ncclSuccess && result != ncclInProgress) return result;
  }
  return result;
}

}  // extern "C"
