// A fake of libnccl.so.2 for tests: ranks exchange whole operands and reduce them in a fixed tree, in the order of
// the stream that they are given. It is stricter than NCCL: what would hang or give wrong bytes there ends the process
// here with a message, and calls are never complete before they are asked for. A send is held until it is received.
//
// SGD_EMULATED_NCCL_VERSION says which version it is; with SGD_EMULATED_NCCL_ERROR=N the N-th operation of every
// communicator of this process meets an error of the network and never ends.
#include <cuda.h>
#include <nccl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/targets/gpu/fakes/channels.h"
#include "tests/targets/gpu/fakes/enqueue.h"
#include "tests/targets/gpu/fakes/nccl_comm.h"
#include "tests/targets/gpu/fakes/nccl_jobs.h"
#include "tests/targets/gpu/fakes/nccl_reductions.h"

extern "C" bool sgd_emulated_is_recording(CUstream stream);

namespace {

using namespace sgd::emulated;

thread_local int depth = 0;                // of the groups of calls that this thread has begun
thread_local std::vector<Comm*> enqueued;  // since then

ncclResult_t Enqueue(Comm& comm, cudaStream_t stream, std::unique_ptr<Job> job) {
  const auto advance = [](void* data) { return static_cast<Job*>(data)->Advance(); };
  const auto release = [](void* data) { delete static_cast<Job*>(data); };
  auto* const driver_stream = reinterpret_cast<CUstream>(stream);
  if (sgd_emulated_is_recording(driver_stream)) job->SetRecorded();
  if (sgd_emulated_enqueue(driver_stream, advance, job.release(), release) != CUDA_SUCCESS)
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

// A communicator is freed when no graph holds operations of it.
void WaitForGraphs(const Comm& comm, const char* call) {
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (comm.recorded > 0) {
    if (std::chrono::steady_clock::now() > patience)
      Fail(std::string(call) + " waits for ever for graphs that hold the communicator's operations");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) { return *version = EmulatedVersion(), ncclSuccess; }

const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclRemoteError ? "remote process exited or there was a network error" : "of the fake of NCCL";
}

const char* ncclGetLastError(ncclComm_t) { return "last error of the fake"; }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static std::atomic<int> count{0};
  std::snprintf(id->internal, sizeof(id->internal), "/sgd_nccl_%d_%d", getpid(), ++count);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config) {
  if (const ncclResult_t result = CheckConfig(config); result != ncclSuccess) return result;
  std::unique_ptr<Channels> channels = Channels::Open(id.internal, ranks, rank);
  if (channels == nullptr) return ncclSystemError;
  *comm = MakeComm(std::move(channels));
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
  const std::shared_ptr<Comm> owned = Of(handle, "ncclCommGetAsyncError");
  Comm& comm = *owned;
  if (comm.is_aborted) Fail("ncclCommGetAsyncError after ncclCommAbort");
  *error = ncclInProgress;
  if (comm.error != ncclSuccess) return *error = comm.error, ncclSuccess;
  if (!comm.channels->AreAllHere() || std::exchange(comm.is_pending, false)) return ncclSuccess;
  if (comm.is_finalized && !comm.channels->AreAllFinalized()) return ncclSuccess;
  if (comm.split.has_value()) {
    std::optional<std::unique_ptr<Channels>> child = comm.channels->EndSplit(comm.split->index);
    if (!child.has_value()) return ncclSuccess;
    *comm.split->child = MakeComm(*std::move(child));
    comm.split.reset();
  }
  if (comm.registering != nullptr && !EndRegistration(comm)) return ncclSuccess;
  *error = ncclSuccess;
  return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t handle) {
  Comm& comm = Ready(handle, "ncclCommFinalize");
  if (comm.running != nullptr) Fail("ncclCommFinalize with an operation in flight");
  if (!comm.registered.empty()) Fail("ncclCommFinalize with registered memory");
  comm.is_finalized = true;
  comm.channels->Finalize();
  return ncclInProgress;
}

ncclResult_t ncclCommDestroy(ncclComm_t handle) {
  const std::shared_ptr<const Comm> comm = Of(handle, "ncclCommDestroy");
  if (!comm->is_finalized) Fail("ncclCommDestroy before ncclCommFinalize");
  WaitForGraphs(*comm, "ncclCommDestroy");
  GiveBack(handle);
  return ncclSuccess;
}

// Work in flight may still use it.
ncclResult_t ncclCommAbort(ncclComm_t handle) {
  const std::shared_ptr<Comm> owned = Of(handle, "ncclCommAbort");
  Comm& comm = *owned;
  if (comm.is_aborted.exchange(true)) Fail("ncclCommAbort a second time");
  comm.channels->Abandon();
  Forget(comm);
  WaitForGraphs(comm, "ncclCommAbort");
  GiveBack(handle);
  return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* source, void* target, size_t count, ncclDataType_t type, ncclRedOp_t reduce,
                           ncclComm_t handle, cudaStream_t stream) {
  Comm& comm = Ready(handle, "ncclAllReduce");
  return Enqueue(comm, stream, MakeReduction(comm, source, target, count, type, reduce, /*scatters=*/false));
}

ncclResult_t ncclReduceScatter(const void* source, void* target, size_t count, ncclDataType_t type, ncclRedOp_t reduce,
                               ncclComm_t handle, cudaStream_t stream) {
  Comm& comm = Ready(handle, "ncclReduceScatter");
  return Enqueue(comm, stream, MakeReduction(comm, source, target, count, type, reduce, /*scatters=*/true));
}

ncclResult_t ncclAllGather(const void* source, void* target, size_t count, ncclDataType_t type, ncclComm_t handle,
                           cudaStream_t stream) {
  Comm& comm = Ready(handle, "ncclAllGather");
  return Enqueue(comm, stream, MakeGather(comm, source, target, count * SizeOf(type)));
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
