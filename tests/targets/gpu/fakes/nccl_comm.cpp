// Rules of communicators and of memory that they know.
#include "tests/targets/gpu/fakes/nccl_comm.h"

#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <utility>

#include "tests/targets/gpu/fakes/setting.h"

extern "C" void* sgd_emulated_resolve(uint64_t address, uint64_t bytes);

namespace sgd::emulated {
namespace {

// Memory of ncclMemAlloc, which alone can be a window: address to size.
struct Allocations {
  std::mutex mutex;
  std::map<uint64_t, uint64_t> live;
  std::map<uint64_t, int> registered;  // by the address of the allocation: how many registrations lie in it
};

Allocations& Memory() {
  static Allocations memory;  // goes when the library is closed
  return memory;
}

// Communicators by handle.
struct Handles {
  std::mutex mutex;
  uint64_t count = 0;
  std::map<uint64_t, std::shared_ptr<Comm>> live;
};

Handles& AllHandles() {
  static Handles handles;
  return handles;
}

uint64_t AddressOf(const void* data) { return reinterpret_cast<uint64_t>(data); }

// The begin of the allocation that holds all of it. Under the lock.
std::optional<uint64_t> Holder(Allocations& memory, uint64_t begin, uint64_t end) {
  auto at = memory.live.upper_bound(begin);
  if (at == memory.live.begin()) return std::nullopt;
  --at;
  return end <= at->first + at->second ? std::optional(at->first) : std::nullopt;
}

}  // namespace

void Fail(const std::string& what) {
  std::fprintf(stderr, "fake of NCCL: %s\n", what.c_str());
  abort();
}

int EmulatedVersion() { return Setting("SGD_EMULATED_NCCL_VERSION", NCCL_VERSION_CODE); }

void NeedVersion(int least, const char* call) {
  if (EmulatedVersion() < least) Fail(std::string(call) + " of a version that has it not");
}

std::byte* Resolve(const void* data, uint64_t bytes) {
  auto* memory = static_cast<std::byte*>(sgd_emulated_resolve(AddressOf(data), bytes));
  if (memory == nullptr) Fail("an operand is not in memory");
  return memory;
}

ncclComm_t MakeComm(std::unique_ptr<Channels> channels) {
  Handles& handles = AllHandles();
  std::lock_guard lock(handles.mutex);
  handles.live[++handles.count] = std::make_shared<Comm>(std::move(channels));
  return reinterpret_cast<ncclComm_t>(handles.count);
}

std::shared_ptr<Comm> Of(ncclComm_t handle, const char* call) {
  Handles& handles = AllHandles();
  std::lock_guard lock(handles.mutex);
  const auto found = handles.live.find(reinterpret_cast<uint64_t>(handle));
  if (found == handles.live.end()) Fail(std::string(call) + " after ncclCommDestroy or ncclCommAbort");
  return found->second;
}

void GiveBack(ncclComm_t handle) {
  std::shared_ptr<Comm> comm;  // destroyed outside of the lock
  Handles& handles = AllHandles();
  std::lock_guard lock(handles.mutex);
  comm = std::move(handles.live.extract(reinterpret_cast<uint64_t>(handle)).mapped());
}

Comm& Ready(ncclComm_t handle, const char* call) {
  Comm& comm = *Of(handle, call);
  if (comm.is_aborted) Fail(std::string(call) + " after ncclCommAbort");
  if (comm.is_finalized) Fail(std::string(call) + " after ncclCommFinalize");
  if (comm.is_pending || comm.split.has_value() || comm.registering != nullptr || !comm.channels->AreAllHere())
    Fail(std::string(call) + " before the call before it was complete");
  return comm;
}

const Registered* FindRegistered(const Comm& comm, const void* data, uint64_t bytes) {
  const uint64_t begin = AddressOf(data), end = begin + bytes;
  for (const auto& one : comm.registered) {
    if (one->begin <= begin && end <= one->end) return one.get();
    if (begin < one->end && one->begin < end) Fail("an operand lies in registered memory only in part");
  }
  return nullptr;
}

bool EndRegistration(Comm& comm) {
  const Channels::Agreement agreement = comm.channels->EndRegistration(comm.registering->index);
  if (!agreement.are_all_here) return false;
  if (!agreement.is_equal) Fail("members register memory of other sizes, or at other places of their allocations");
  *comm.registering->window = reinterpret_cast<ncclWindow_t>(comm.registering);
  comm.registering = nullptr;
  return true;
}

void Forget(Comm& comm) {
  Allocations& memory = Memory();
  std::lock_guard lock(memory.mutex);
  for (const auto& one : std::exchange(comm.registered, {})) {
    if (const auto holder = Holder(memory, one->begin, one->end)) --memory.registered[*holder];
  }
}

}  // namespace sgd::emulated

using sgd::emulated::Comm;
using sgd::emulated::Fail;
using sgd::emulated::Registered;

namespace {

Registered* Add(Comm& comm, void* data, size_t bytes, bool is_symmetric) {
  auto& memory = sgd::emulated::Memory();
  const uint64_t begin = reinterpret_cast<uint64_t>(data);
  std::lock_guard lock(memory.mutex);
  const std::optional<uint64_t> holder = sgd::emulated::Holder(memory, begin, begin + bytes);
  if (is_symmetric && !holder) Fail("a window that is not memory of ncclMemAlloc");
  if (is_symmetric && (begin - *holder) % NCCL_WIN_REQUIRED_ALIGNMENT != 0) Fail("a window that is not aligned");
  for (const auto& one : comm.registered) {
    if (begin < one->end && one->begin < begin + bytes) Fail("registered memory overlaps");
  }
  if (holder) ++memory.registered[*holder];
  comm.registered.push_back(std::make_unique<Registered>(Registered{begin, begin + bytes, is_symmetric}));
  return comm.registered.back().get();
}

void Remove(Comm& comm, void* handle) {
  const auto found =
      std::ranges::find(comm.registered, handle, [](const auto& one) -> const void* { return one.get(); });
  if (found == comm.registered.end()) Fail("memory is deregistered that is not registered");
  if (comm.recorded > 0) Fail("memory is deregistered while a graph holds operations on it");
  auto& memory = sgd::emulated::Memory();
  std::lock_guard lock(memory.mutex);
  if (const auto holder = sgd::emulated::Holder(memory, (*found)->begin, (*found)->end)) --memory.registered[*holder];
  comm.registered.erase(found);
}

}  // namespace

extern "C" {

ncclResult_t ncclMemAlloc(void** memory, size_t bytes) {
  sgd::emulated::NeedVersion(NCCL_VERSION(2, 19, 0), "ncclMemAlloc");
  CUdeviceptr address = 0;
  if (cuMemAlloc(&address, bytes) != CUDA_SUCCESS) return ncclUnhandledCudaError;
  auto& allocations = sgd::emulated::Memory();
  std::lock_guard lock(allocations.mutex);
  allocations.live[address] = bytes;
  *memory = reinterpret_cast<void*>(address);
  return ncclSuccess;
}

ncclResult_t ncclMemFree(void* memory) {
  const uint64_t address = reinterpret_cast<uint64_t>(memory);
  auto& allocations = sgd::emulated::Memory();
  std::lock_guard lock(allocations.mutex);
  if (allocations.live.erase(address) == 0) Fail("ncclMemFree of other memory");
  if (allocations.registered[address] > 0) Fail("registered memory is freed");
  return cuMemFree(address) == CUDA_SUCCESS ? ncclSuccess : ncclUnhandledCudaError;
}

ncclResult_t ncclCommRegister(const ncclComm_t handle, void* data, size_t bytes, void** registration) {
  sgd::emulated::NeedVersion(NCCL_VERSION(2, 19, 0), "ncclCommRegister");
  *registration = Add(sgd::emulated::Ready(handle, "ncclCommRegister"), data, bytes, /*is_symmetric=*/false);
  return ncclSuccess;
}

ncclResult_t ncclCommDeregister(const ncclComm_t handle, void* registration) {
  Remove(sgd::emulated::Ready(handle, "ncclCommDeregister"), registration);
  return ncclSuccess;
}

ncclResult_t ncclCommWindowRegister(ncclComm_t handle, void* data, size_t bytes, ncclWindow_t* window, int flags) {
  sgd::emulated::NeedVersion(NCCL_VERSION(2, 27, 0), "ncclCommWindowRegister");
  Comm& comm = sgd::emulated::Ready(handle, "ncclCommWindowRegister");
  if (flags != NCCL_WIN_COLL_SYMMETRIC || comm.registrations == sgd::emulated::Channels::kMaxRegistrations)
    return ncclInvalidArgument;
  comm.registering = Add(comm, data, bytes, /*is_symmetric=*/true);
  comm.registering->index = comm.registrations++;
  comm.registering->window = window;
  uint64_t offset = 0;
  {
    auto& memory = sgd::emulated::Memory();
    std::lock_guard lock(memory.mutex);
    offset = comm.registering->begin - *sgd::emulated::Holder(memory, comm.registering->begin, comm.registering->end);
  }
  comm.channels->BeginRegistration(comm.registering->index, bytes, offset);
  return ncclInProgress;
}

ncclResult_t ncclCommWindowDeregister(ncclComm_t handle, ncclWindow_t window) {
  Remove(sgd::emulated::Ready(handle, "ncclCommWindowDeregister"), window);
  return ncclSuccess;
}

}  // extern "C"
