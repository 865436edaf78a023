// The fake of NCCL's communicator of one rank, and the memory that it knows.
#pragma once

#include <cuda.h>
#include <nccl.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/targets/gpu/fakes/channels.h"

namespace sgd::emulated {

// Ends the process: the real library would hang, or give wrong bytes.
[[noreturn]] void Fail(const std::string& what);

// Of SGD_EMULATED_NCCL_VERSION; with functions of later versions the process ends.
int EmulatedVersion();
void NeedVersion(int least, const char* call);

// Operands of the device as memory of this process.
std::byte* Resolve(const void* data, uint64_t bytes);

struct Split {
  int index;
  ncclComm_t* child;  // written when all have come
};

// Memory that the communicator knows.
struct Registered {
  uint64_t begin = 0, end = 0;
  bool is_symmetric = false;
  int index = 0;                   // of the communicator's, where symmetric
  ncclWindow_t* window = nullptr;  // written when all have come
};

// A communicator of one rank. Its handle and the operations that it has in flight or in graphs own it.
struct Comm : std::enable_shared_from_this<Comm> {
  explicit Comm(std::unique_ptr<Channels> channels) : channels(std::move(channels)) {}

  const std::unique_ptr<Channels> channels;
  std::atomic<bool> is_aborted = false;
  bool is_finalized = false;
  bool is_pending = false;  // the last call goes on behind it
  ncclResult_t error = ncclSuccess;
  std::optional<Split> split;
  int splits = 0;
  int64_t begun = 0;  // operations
  const class Job* running = nullptr;
  std::atomic<int> recorded = 0;  // operations that graphs hold
  std::vector<std::unique_ptr<Registered>> registered;
  Registered* registering = nullptr;
  int registrations = 0;
};

// Handles are numbers that are never used again: the process ends where one is used that was given back.
ncclComm_t MakeComm(std::unique_ptr<Channels> channels);
std::shared_ptr<Comm> Of(ncclComm_t handle, const char* call);
void GiveBack(ncclComm_t handle);

// For calls that need a communicator in order.
Comm& Ready(ncclComm_t handle, const char* call);

// The registered memory that holds all of an operand, if any; null for none.
const Registered* FindRegistered(const Comm& comm, const void* data, uint64_t bytes);

// Whether the registration in flight is complete; the process ends where members' memory differs.
bool EndRegistration(Comm& comm);

// The communicator is gone, and what it knew of memory with it.
void Forget(Comm& comm);

}  // namespace sgd::emulated
