// A fake of libcuda.so.1 for tests on machines without a GPU: the functions that targets/gpu/device calls, but for
// those of modules and kernels (libcuda_kernels.cpp).
//
// SGD_EMULATED_GPUS (default 8), SGD_EMULATED_CAPABILITY (90), SGD_EMULATED_DRIVER_VERSION (13000) and
// SGD_EMULATED_MEMORY say what machine it is.
#include <cuda.h>
#include <stdio.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "tests/targets/gpu/fakes/contract.h"
#include "tests/targets/gpu/fakes/counts.h"
#include "tests/targets/gpu/fakes/machine.h"
#include "tests/targets/gpu/fakes/memory.h"
#include "tests/targets/gpu/fakes/setting.h"

using sgd::emulated::CheckContext;
using sgd::emulated::CheckNotCapturing;
using sgd::emulated::EmulatedEvent;
using sgd::emulated::EmulatedStream;
using sgd::emulated::GraphNodes;
using sgd::emulated::Machine;
using sgd::emulated::Memory;
using sgd::emulated::Setting;

namespace {

struct EmulatedGraph {
  std::shared_ptr<const GraphNodes> nodes;
};

EmulatedStream* Of(CUstream stream) { return reinterpret_cast<EmulatedStream*>(stream); }
EmulatedEvent* Of(CUevent event) { return reinterpret_cast<EmulatedEvent*>(event); }

template <typename Word>
CUresult Fill(CUdeviceptr target, size_t pitch, Word value, size_t width, size_t height, CUstream stream) {
  if (target % sizeof(Word) != 0 || pitch % sizeof(Word) != 0) return CUDA_ERROR_INVALID_VALUE;
  if (height > 1 && (pitch < width * sizeof(Word) || pitch > sgd::emulated::kMostPitch))
    return CUDA_ERROR_INVALID_VALUE;
  return Machine::OfThisThread().Enqueue(Of(stream), [=] {
    const size_t bytes = height == 0 ? 0 : (height - 1) * pitch + width * sizeof(Word);
    std::byte* memory = Memory::Get().Resolve(target, bytes);
    if (memory == nullptr) return CUDA_ERROR_ILLEGAL_ADDRESS;
    for (size_t row = 0; row < height; ++row) {
      for (size_t i = 0; i < width; ++i) std::memcpy(memory + row * pitch + i * sizeof(Word), &value, sizeof(Word));
    }
    return CUDA_SUCCESS;
  });
}

const char* NameOf(CUresult error) {
  switch (error) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return "CUDA_ERROR_OUT_OF_MEMORY";
    case CUDA_ERROR_ILLEGAL_ADDRESS:
      return "CUDA_ERROR_ILLEGAL_ADDRESS";
    case CUDA_ERROR_INVALID_CONTEXT:
      return "CUDA_ERROR_INVALID_CONTEXT";
    case CUDA_ERROR_NOT_INITIALIZED:
      return "CUDA_ERROR_NOT_INITIALIZED";
    case CUDA_ERROR_INVALID_VALUE:
      return "CUDA_ERROR_INVALID_VALUE";
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
      return "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED";
    case CUDA_ERROR_NOT_SUPPORTED:
      return "CUDA_ERROR_NOT_SUPPORTED";
    case CUDA_ERROR_NOT_FOUND:
      return "CUDA_ERROR_NOT_FOUND";
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
      return "CUDA_ERROR_UNSUPPORTED_PTX_VERSION";
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
      return "CUDA_ERROR_DEVICE_UNAVAILABLE";
    case CUDA_ERROR_ECC_UNCORRECTABLE:
      return "CUDA_ERROR_ECC_UNCORRECTABLE";
    case CUDA_ERROR_STREAM_CAPTURE_UNJOINED:
      return "CUDA_ERROR_STREAM_CAPTURE_UNJOINED";
    default:
      return "CUDA_ERROR_UNKNOWN";
  }
}

}  // namespace

// Questions that tests ask the fake itself.
extern "C" uint64_t sgd_emulated_allocations() { return Memory::Get().allocations(); }
extern "C" uint64_t sgd_emulated_bytes() { return Memory::Get().used(); }
extern "C" uint64_t sgd_emulated_crossed_bytes() { return Memory::Get().crossed(); }
// For the fakes of the other libraries.
extern "C" void* sgd_emulated_resolve(uint64_t address, uint64_t bytes) {
  return Memory::Get().Resolve(address, bytes);
}
// Work that is called until it is ready (CUDA_ERROR_NOT_READY before): as a kernel that waits for peers. `data` is
// released when it has run, or when the last graph that holds it is gone.
extern "C" CUresult sgd_emulated_enqueue(CUstream stream, CUresult (*function)(void*), void* data,
                                         void (*release)(void*)) {
  const std::shared_ptr<void> owned(data, release);
  return Machine::OfThisThread().Enqueue(Of(stream), [function, owned] { return function(owned.get()); });
}
extern "C" bool sgd_emulated_is_recording(CUstream stream) { return Of(stream)->graph != nullptr; }

extern "C" {

CUresult cuInit(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (Setting("SGD_EMULATED_GPUS", 8) == 0) return CUDA_ERROR_NO_DEVICE;
  sgd::emulated::NoteInit();
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  *version = Setting("SGD_EMULATED_DRIVER_VERSION", 13000);
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = NameOf(error);
  return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult, const char** text) {
  *text = "of the emulated GPU";
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  *count = Setting("SGD_EMULATED_GPUS", 8);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return ordinal < Setting("SGD_EMULATED_GPUS", 8) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice) {
  strncpy(name, "emulated", static_cast<size_t>(length));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  const int capability = Setting("SGD_EMULATED_CAPABILITY", 90);
  if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) return *value = capability / 10, CUDA_SUCCESS;
  if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) return *value = capability % 10, CUDA_SUCCESS;
  if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_MODE)
    return *value = Setting("SGD_EMULATED_COMPUTE_MODE", CU_COMPUTEMODE_DEFAULT), CUDA_SUCCESS;
  if (attribute == CU_DEVICE_ATTRIBUTE_ECC_ENABLED) return *value = 1, CUDA_SUCCESS;
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceTotalMem(size_t* bytes, CUdevice) { return *bytes = Memory::Get().total(), CUDA_SUCCESS; }

CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  snprintf(text, static_cast<size_t>(length), "FFFF:%02X:00.0", device);
  return CUDA_SUCCESS;
}

// GPUs of even and of odd numbers see each other.
CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice from, CUdevice to) {
  if (attribute != CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED || from == to) return CUDA_ERROR_INVALID_VALUE;
  return *value = from % 2 == to % 2, CUDA_SUCCESS;
}

// SGD_EMULATED_RETAIN: an error to give instead.
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (const int error = Setting("SGD_EMULATED_RETAIN", 0)) return static_cast<CUresult>(error);
  *context = sgd::emulated::RetainContext(device);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  Machine::OfThisThread().ForgetError();
  return sgd::emulated::ReleaseContext(device);
}
CUresult cuCtxSetCurrent(CUcontext context) { return sgd::emulated::SetContext(context); }

CUresult cuMemGetInfo(size_t* free, size_t* total) {
  *total = Memory::Get().total();
  *free = *total - Memory::Get().used();
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr* address, size_t bytes) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult result = CheckNotCapturing(); result != CUDA_SUCCESS) return result;
  *address = Memory::Get().Allocate(bytes);
  return *address == 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

// Waits for everything that runs, as the driver does.
CUresult cuMemFree(CUdeviceptr address) {
  if (const CUresult result = CheckNotCapturing(); result != CUDA_SUCCESS) return result;
  Machine::OfThisThread().DrainAll();
  return Memory::Get().Free(address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemHostAlloc(void** memory, size_t bytes, unsigned flags) {
  constexpr unsigned kKnown = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  if (bytes == 0 || (flags & ~kKnown) != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult result = CheckNotCapturing(); result != CUDA_SUCCESS) return result;
  *memory = Memory::Get().AllocatePinned(bytes);
  return *memory == nullptr ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void* memory) {
  if (const CUresult result = CheckNotCapturing(); result != CUDA_SUCCESS) return result;
  return Memory::Get().FreePinned(memory) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// Ordinary memory of the host cannot be recorded, and a copy into it has been made when the call returns.
CUresult cuMemcpyAsync(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream) {
  if (const CUresult result = CheckContext(); result != CUDA_SUCCESS) return result;
  const bool to_pageable = Memory::Get().IsPageable(target, bytes);
  if ((to_pageable || Memory::Get().IsPageable(source, bytes)) && Machine::OfThisThread().is_capturing())
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  const CUresult result = Machine::OfThisThread().Enqueue(Of(stream), [=] {
    std::byte* to = Memory::Get().Resolve(target, bytes);
    const std::byte* from = Memory::Get().Resolve(source, bytes);
    if (to == nullptr || from == nullptr || (from < to + bytes && to < from + bytes)) return CUDA_ERROR_ILLEGAL_ADDRESS;
    std::memcpy(to, from, bytes);
    Memory::Get().CountCrossing(target, source, bytes);
    return CUDA_SUCCESS;
  });
  return result == CUDA_SUCCESS && to_pageable ? Machine::OfThisThread().Drain(Of(stream)) : result;
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* given, CUstream stream) {
  const CUDA_MEMCPY2D copy = *given;
  if (copy.srcMemoryType != CU_MEMORYTYPE_DEVICE || copy.dstMemoryType != CU_MEMORYTYPE_DEVICE)
    return CUDA_ERROR_INVALID_VALUE;
  if (copy.srcPitch < copy.WidthInBytes || copy.dstPitch < copy.WidthInBytes) return CUDA_ERROR_INVALID_VALUE;
  if (std::max(copy.srcPitch, copy.dstPitch) > sgd::emulated::kMostPitch) return CUDA_ERROR_INVALID_VALUE;
  return Machine::OfThisThread().Enqueue(Of(stream), [copy] {
    const size_t rows = copy.Height == 0 ? 0 : copy.Height - 1;
    std::byte* to = Memory::Get().Resolve(copy.dstDevice, rows * copy.dstPitch + copy.WidthInBytes);
    const std::byte* from = Memory::Get().Resolve(copy.srcDevice, rows * copy.srcPitch + copy.WidthInBytes);
    if (to == nullptr || from == nullptr) return CUDA_ERROR_ILLEGAL_ADDRESS;
    for (size_t row = 0; row < copy.Height; ++row)
      std::memcpy(to + row * copy.dstPitch, from + row * copy.srcPitch, copy.WidthInBytes);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t count, CUstream stream) {
  return Fill<uint8_t>(target, count, value, count, 1, stream);
}
CUresult cuMemsetD16Async(CUdeviceptr target, unsigned short value, size_t count, CUstream stream) {
  return Fill<uint16_t>(target, count * 2, value, count, 1, stream);
}
CUresult cuMemsetD32Async(CUdeviceptr target, unsigned value, size_t count, CUstream stream) {
  return Fill<uint32_t>(target, count * 4, value, count, 1, stream);
}
CUresult cuMemsetD2D8Async(CUdeviceptr target, size_t pitch, unsigned char value, size_t width, size_t height,
                           CUstream stream) {
  return Fill<uint8_t>(target, pitch, value, width, height, stream);
}
CUresult cuMemsetD2D32Async(CUdeviceptr target, size_t pitch, unsigned value, size_t width, size_t height,
                            CUstream stream) {
  return Fill<uint32_t>(target, pitch, value, width, height, stream);
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return CUDA_SUCCESS;
}

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int) {
  if (const CUresult result = CheckContext(); result != CUDA_SUCCESS) return result;
  // Others would wait for the legacy stream, which libraries may use.
  if (flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  *stream = reinterpret_cast<CUstream>(Machine::OfThisThread().AddStream());
  return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream stream) {
  Machine::OfThisThread().RemoveStream(Of(stream));
  return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream) { return Machine::OfThisThread().Drain(Of(stream)); }
CUresult cuStreamQuery(CUstream stream) { return Machine::OfThisThread().Poll(Of(stream)); }

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  return Machine::OfThisThread().Wait(Of(stream), Of(event));
}

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode) {
  if (const CUresult result = CheckContext(); result != CUDA_SUCCESS) return result;
  return Machine::OfThisThread().BeginCapture(Of(stream));
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  std::unique_ptr<GraphNodes> nodes;
  const CUresult result = Machine::OfThisThread().EndCapture(Of(stream), nodes);
  if (result == CUDA_SUCCESS) *graph = reinterpret_cast<CUgraph>(new EmulatedGraph{std::move(nodes)});
  return result;
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return Machine::OfThisThread().Enqueue(Of(stream), [=] { return function(data), CUDA_SUCCESS; });
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  if (const CUresult result = CheckContext(); result != CUDA_SUCCESS) return result;
  *event = reinterpret_cast<CUevent>(new EmulatedEvent{.is_timed = (flags & CU_EVENT_DISABLE_TIMING) == 0});
  return CUDA_SUCCESS;
}

// Of the name that all drivers have.
#undef cuEventElapsedTime
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  for (const EmulatedEvent* event : {Of(begin), Of(end)}) {
    if (!event->is_timed || event->recorded == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (!event->recorded->is_done) return CUDA_ERROR_NOT_READY;
  }
  *milliseconds = static_cast<float>(Of(end)->recorded->done_at - Of(begin)->recorded->done_at);
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event) {
  delete Of(event);
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) { return Machine::OfThisThread().Record(Of(stream), Of(event)); }

CUresult cuEventQuery(CUevent event) { return Machine::OfThisThread().Poll(Of(event)); }

CUresult cuGraphInstantiate(CUgraphExec* executable, CUgraph graph, unsigned long long flags) {
  // CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD is for another function.
  if ((flags & ~uint64_t{CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY}) != 0) return CUDA_ERROR_INVALID_VALUE;
  *executable = reinterpret_cast<CUgraphExec>(new EmulatedGraph(*reinterpret_cast<EmulatedGraph*>(graph)));
  return CUDA_SUCCESS;
}

CUresult cuGraphUpload(CUgraphExec executable, CUstream stream) {
  return executable == nullptr ? CUDA_ERROR_INVALID_VALUE
                               : Machine::OfThisThread().Enqueue(Of(stream), [] { return CUDA_SUCCESS; });
}

CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  const std::shared_ptr<const GraphNodes> nodes = reinterpret_cast<EmulatedGraph*>(executable)->nodes;
  sgd::emulated::CountGraph();
  return Machine::OfThisThread().Launch(Of(stream), nodes);
}

CUresult cuGraphDestroy(CUgraph graph) {
  delete reinterpret_cast<EmulatedGraph*>(graph);
  return CUDA_SUCCESS;
}

// A GPU goes on by itself; here what still runs goes on now.
CUresult cuGraphExecDestroy(CUgraphExec executable) {
  Machine::OfThisThread().DrainAll();
  delete reinterpret_cast<EmulatedGraph*>(executable);
  return CUDA_SUCCESS;
}

}  // extern "C"
