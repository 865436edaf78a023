// A double of libnccl.so.2 for tests: ranks exchange whole operands and reduce them in rank order, in the order of the
// stream that they are given.
#include <cuda.h>
#include <nccl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/targets/gpu/doubles/channels.h"

extern "C" void* sgd_emulated_resolve(uint64_t address, uint64_t bytes);

namespace {

using sgd::emulated::Channels;
using sgd::emulated::Message;

size_t SizeOf(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64:
      return 8;
    default:
      return 4;
  }
}

std::byte* Resolve(const void* data, uint64_t bytes) {
  return static_cast<std::byte*>(sgd_emulated_resolve(reinterpret_cast<uint64_t>(data), bytes));
}

[[noreturn]] void Fail(const char* what) {
  std::fprintf(stderr, "double of NCCL: %s\n", what);
  abort();
}

struct Bf16 {
  uint16_t bits;
};

template <typename T>
auto Load(T value) {
  if constexpr (std::is_same_v<T, Bf16>) {
    return std::bit_cast<float>(uint32_t{value.bits} << 16);
  } else if constexpr (std::is_same_v<T, _Float16>) {
    return static_cast<float>(value);
  } else {
    return value;
  }
}

template <typename T, typename Sum>
T Store(Sum value) {
  if constexpr (std::is_same_v<T, Bf16>) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    if ((bits & 0x7fffffff) > 0x7f800000) return Bf16{static_cast<uint16_t>(bits >> 16 | 0x40)};
    return Bf16{static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
  } else {
    return static_cast<T>(value);
  }
}

template <typename Sum>
Sum Combine(ncclRedOp_t reduce, Sum a, Sum b) {
  switch (reduce) {
    case ncclProd:
      return static_cast<Sum>(a * b);
    case ncclMax:
      return std::max(a, b);
    case ncclMin:
      return std::min(a, b);
    default:
      return static_cast<Sum>(a + b);
  }
}

// parts[r] holds rank r's `count` elements.
template <typename T>
void Reduce(const std::vector<std::vector<std::byte>>& parts, uint64_t count, ncclRedOp_t reduce, std::byte* target) {
  for (uint64_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, parts[0].data() + i * sizeof(T), sizeof(T));
    auto sum = Load(element);
    for (size_t rank = 1; rank < parts.size(); ++rank) {
      std::memcpy(&element, parts[rank].data() + i * sizeof(T), sizeof(T));
      sum = Combine(reduce, sum, Load(element));
    }
    element = Store<T>(sum);
    std::memcpy(target + i * sizeof(T), &element, sizeof(T));
  }
}

void ReduceTyped(ncclDataType_t type, const std::vector<std::vector<std::byte>>& parts, uint64_t count,
                 ncclRedOp_t reduce, std::byte* target) {
  switch (type) {
    case ncclInt8:
      return Reduce<int8_t>(parts, count, reduce, target);
    case ncclUint8:
      return Reduce<uint8_t>(parts, count, reduce, target);
    case ncclInt32:
      return Reduce<int32_t>(parts, count, reduce, target);
    case ncclUint32:
      return Reduce<uint32_t>(parts, count, reduce, target);
    case ncclInt64:
      return Reduce<int64_t>(parts, count, reduce, target);
    case ncclUint64:
      return Reduce<uint64_t>(parts, count, reduce, target);
    case ncclFloat16:
      return Reduce<_Float16>(parts, count, reduce, target);
    case ncclBfloat16:
      return Reduce<Bf16>(parts, count, reduce, target);
    case ncclFloat32:
      return Reduce<float>(parts, count, reduce, target);
    case ncclFloat64:
      return Reduce<double>(parts, count, reduce, target);
    default:
      Fail("unknown type");
  }
}

// Sends part r of the source to rank r, or all of it to everybody, and reduces what comes.
void RunReduction(Channels& channels, const void* source, void* target, uint64_t count, ncclDataType_t type,
                  ncclRedOp_t reduce, bool scatters) {
  const uint64_t bytes = count * SizeOf(type);
  const uint64_t n = static_cast<uint64_t>(channels.ranks());
  std::byte* const from = Resolve(source, scatters ? bytes * n : bytes);
  std::byte* const to = Resolve(target, bytes);
  if (from == nullptr || to == nullptr) Fail("operands of a reduction are not in memory");
  std::vector<std::vector<std::byte>> parts(n, std::vector<std::byte>(bytes));
  std::vector<Message> messages;
  for (int rank = 0; rank < channels.ranks(); ++rank) {
    std::byte* const part = from + (scatters ? static_cast<uint64_t>(rank) * bytes : 0);
    std::vector<std::byte>& received = parts[static_cast<size_t>(rank)];
    if (rank == channels.rank()) {
      std::copy_n(part, bytes, received.data());
      continue;
    }
    messages.push_back({rank, part, bytes, true});
    messages.push_back({rank, received.data(), bytes, false});
  }
  if (!channels.Exchange(std::move(messages))) Fail("peers of a reduction have not come");
  ReduceTyped(type, parts, count, reduce, to);
}

void RunGather(Channels& channels, const void* source, void* target, uint64_t bytes) {
  std::byte* const from = Resolve(source, bytes);
  std::byte* const to = Resolve(target, bytes * static_cast<uint64_t>(channels.ranks()));
  if (from == nullptr || to == nullptr) Fail("operands of a gather are not in memory");
  std::vector<Message> messages;
  for (int rank = 0; rank < channels.ranks(); ++rank) {
    std::byte* const part = to + static_cast<uint64_t>(rank) * bytes;
    if (rank == channels.rank()) {
      std::memmove(part, from, bytes);
      continue;
    }
    messages.push_back({rank, from, bytes, true});
    messages.push_back({rank, part, bytes, false});
  }
  if (!channels.Exchange(std::move(messages))) Fail("peers of a gather have not come");
}

using Work = std::function<void()>;

void RunWork(void* work) { (*static_cast<Work*>(work))(); }

// A graph may run it again: never freed.
ncclResult_t Enqueue(cudaStream_t stream, Work work) {
  const CUresult result = cuLaunchHostFunc(reinterpret_cast<CUstream>(stream), RunWork, new Work(std::move(work)));
  return result == CUDA_SUCCESS ? ncclSuccess : ncclUnhandledCudaError;
}

Channels& Of(ncclComm_t comm) { return *reinterpret_cast<Channels*>(comm); }

// Sends and receives of the group that this thread has begun.
struct Group {
  ncclComm_t comm;
  cudaStream_t stream;
  std::vector<Message> messages;  // device addresses
};
thread_local int depth = 0;
thread_local std::vector<Group> groups;

ncclResult_t Add(ncclComm_t comm, cudaStream_t stream, Message message) {
  for (Group& group : groups) {
    if (group.comm == comm && group.stream == stream) return group.messages.push_back(message), ncclSuccess;
  }
  groups.push_back({comm, stream, {message}});
  return ncclSuccess;
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  const char* wanted = getenv("SGD_EMULATED_NCCL_VERSION");
  *version = wanted == nullptr ? NCCL_VERSION_CODE : atoi(wanted);
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclSystemError ? "peers have not come" : "of the double of NCCL";
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static std::atomic<int> count{0};
  std::snprintf(id->internal, sizeof(id->internal), "/sgd_nccl_%d_%d", getpid(), ++count);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t*) {
  Channels* channels = Channels::Meet(id.internal, ranks, rank);
  *comm = reinterpret_cast<ncclComm_t>(channels);
  return channels == nullptr ? ncclSystemError : ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* error) {
  *error = ncclSuccess;
  return ncclSuccess;
}

// Work under way may still use it.
ncclResult_t ncclCommAbort(ncclComm_t) { return ncclSuccess; }

ncclResult_t ncclAllReduce(const void* source, void* target, size_t count, ncclDataType_t type, ncclRedOp_t reduce,
                           ncclComm_t comm, cudaStream_t stream) {
  return Enqueue(stream, [=] { RunReduction(Of(comm), source, target, count, type, reduce, false); });
}

ncclResult_t ncclReduceScatter(const void* source, void* target, size_t count, ncclDataType_t type, ncclRedOp_t reduce,
                               ncclComm_t comm, cudaStream_t stream) {
  return Enqueue(stream, [=] { RunReduction(Of(comm), source, target, count, type, reduce, true); });
}

ncclResult_t ncclAllGather(const void* source, void* target, size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  return Enqueue(stream, [=] { RunGather(Of(comm), source, target, count * SizeOf(type)); });
}

ncclResult_t ncclSend(const void* data, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  if (depth == 0) return ncclInvalidUsage;
  return Add(comm, stream, {peer, static_cast<std::byte*>(const_cast<void*>(data)), count * SizeOf(type), true});
}

ncclResult_t ncclRecv(void* data, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
  if (depth == 0) return ncclInvalidUsage;
  return Add(comm, stream, {peer, static_cast<std::byte*>(data), count * SizeOf(type), false});
}

ncclResult_t ncclGroupStart() {
  ++depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (--depth > 0) return ncclSuccess;
  for (Group& group : std::exchange(groups, {})) {
    const ncclResult_t result = Enqueue(group.stream, [comm = group.comm, messages = group.messages] {
      std::vector<Message> resolved = messages;
      for (Message& message : resolved) {
        message.memory = Resolve(message.memory, message.bytes);
        if (message.memory == nullptr) Fail("a message is not in memory");
      }
      if (!Of(comm).Exchange(std::move(resolved))) Fail("peers of an exchange have not come");
    });
    if (result != ncclSuccess) return result;
  }
  return ncclSuccess;
}

}  // extern "C"
