// A fake of libcuda.so.1 for tests on machines without a GPU: the functions that targets/gpu/device calls.
//
// SGD_EMULATED_GPUS (default 8), SGD_EMULATED_CAPABILITY (90), SGD_EMULATED_DRIVER_VERSION (13000) and
// SGD_EMULATED_MEMORY say what machine it is. Of all kernels that run, counted from 1 on, number SGD_EMULATED_FAULT
// fails with CUDA_ERROR_ILLEGAL_ADDRESS and number SGD_EMULATED_HANG never ends. Kernels are run by the function
// `sgd_emulate_kernel` of the library that SGD_EMULATED_KERNELS names.
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/targets/gpu/fakes/contract.h"
#include "tests/targets/gpu/fakes/counts.h"
#include "tests/targets/gpu/fakes/emulate_kernel.h"
#include "tests/targets/gpu/fakes/machine.h"
#include "tests/targets/gpu/fakes/memory.h"

using sgd::emulated::CheckContext;
using sgd::emulated::CheckNotCapturing;
using sgd::emulated::EmulatedEvent;
using sgd::emulated::EmulatedStream;
using sgd::emulated::GraphNodes;
using sgd::emulated::Machine;
using sgd::emulated::Memory;

namespace {

int Setting(const char* name, int otherwise) {
  const char* value = getenv(name);
  return value == nullptr ? otherwise : atoi(value);
}

struct EmulatedFunction {
  struct EmulatedModule* module;
  std::string symbol;
  size_t parameters;  // of 64 bits each
  uint64_t dynamic_limit = sgd::emulated::kSharedBytes;
};

struct EmulatedModule {
  std::string text;
  std::vector<std::unique_ptr<EmulatedFunction>> functions;
};

struct EmulatedGraph {
  std::shared_ptr<const GraphNodes> nodes;
};

EmulatedStream* Of(CUstream stream) { return reinterpret_cast<EmulatedStream*>(stream); }
EmulatedEvent* Of(CUevent event) { return reinterpret_cast<EmulatedEvent*>(event); }
EmulatedModule* Of(CUmodule module) { return reinterpret_cast<EmulatedModule*>(module); }
EmulatedFunction* Of(CUfunction function) { return reinterpret_cast<EmulatedFunction*>(function); }

// Parameters of the list that begins behind the parenthesis at `open`: one more than its own commas.
size_t CountParameters(std::string_view text, size_t open) {
  size_t depth = 0, commas = 0;
  for (size_t at = open; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ',' && depth == 1) ++commas;
    if (text[at] == ')' && --depth == 0) {
      const bool is_empty = text.substr(open + 1, at - open - 1).find_first_not_of(" \t\n") == std::string_view::npos;
      return is_empty ? 0 : commas + 1;
    }
  }
  return 0;
}

// The kernels of a module, of PTX (`.entry symbol(`) or of the compiler's LLVM IR for an emulated GPU (`define
// ptx_kernel void @symbol(`).
std::vector<std::unique_ptr<EmulatedFunction>> FunctionsOf(EmulatedModule* module) {
  std::vector<std::unique_ptr<EmulatedFunction>> functions;
  const std::string_view text = module->text;
  for (const std::string_view keyword : {".entry", "define ptx_kernel void @"}) {
    for (size_t at = text.find(keyword); at != std::string_view::npos; at = text.find(keyword, at + 1)) {
      const size_t begin = text.find_first_not_of(" \t\n", at + keyword.size());
      const size_t open = text.find('(', begin);
      const size_t end = text.find_first_of("( \t\n", begin);
      functions.push_back(std::make_unique<EmulatedFunction>(module, std::string(text.substr(begin, end - begin)),
                                                             CountParameters(text, open)));
    }
  }
  return functions;
}

sgd::emulated::EmulateKernel KernelRunner() {
  static const auto runner = [] {
    const char* path = getenv("SGD_EMULATED_KERNELS");
    void* library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return library == nullptr
               ? nullptr
               : reinterpret_cast<sgd::emulated::EmulateKernel>(dlsym(library, sgd::emulated::kEmulateKernel));
  }();
  return runner;
}

CUresult RunKernel(const EmulatedFunction& function, const sgd::emulated::KernelLaunch& launch,
                   std::vector<uint64_t> arguments) {
  static const int fault = Setting("SGD_EMULATED_FAULT", 0);
  static const int hang = Setting("SGD_EMULATED_HANG", 0);
  static std::atomic<int> run = 0;
  if (run + 1 == hang) return CUDA_ERROR_NOT_READY;
  if (++run == fault) return CUDA_ERROR_ILLEGAL_ADDRESS;
  // A value that lies in device memory is an address; the others are numbers.
  for (uint64_t& argument : arguments) {
    if ((argument & sgd::emulated::kDeviceBit) == 0 || static_cast<int64_t>(argument) < 0) continue;
    std::byte* memory = Memory::Get().Resolve(argument, 0);
    if (memory == nullptr) return CUDA_ERROR_ILLEGAL_ADDRESS;
    argument = reinterpret_cast<uint64_t>(memory);
  }
  if (KernelRunner() == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const bool is_ok = KernelRunner()(function.module->text.c_str(), function.symbol.c_str(), launch, arguments.data(),
                                    arguments.size());
  return is_ok ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED;
}

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

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, CUjit_option* options, void** values) {
  if (const CUresult result = CheckNotCapturing(); result != CUDA_SUCCESS) return result;
  // A log is written up to its size, which stands among the options.
  for (unsigned i = 0; i < count; ++i) {
    const bool is_log = options[i] == CU_JIT_ERROR_LOG_BUFFER || options[i] == CU_JIT_INFO_LOG_BUFFER;
    const bool has_size = i + 1 < count && options[i + 1] == options[i] + 1 && values[i + 1] != nullptr;
    if (is_log && !has_size) return CUDA_ERROR_INVALID_VALUE;
  }
  const std::string_view text = static_cast<const char*>(image);
  if (text.find("PTX_TOO_NEW") != std::string_view::npos) return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  auto loaded = std::make_unique<EmulatedModule>();
  loaded->text = text;
  loaded->functions = FunctionsOf(loaded.get());
  *module = reinterpret_cast<CUmodule>(loaded.release());
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
  delete Of(module);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  for (const auto& candidate : Of(module)->functions) {
    if (candidate->symbol == name) return *function = reinterpret_cast<CUfunction>(candidate.get()), CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_ERROR_INVALID_VALUE;
  if (value < 0 || static_cast<uint64_t>(value) > sgd::emulated::kMostSharedBytes) return CUDA_ERROR_INVALID_VALUE;
  Of(function)->dynamic_limit = static_cast<uint64_t>(value);
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** parameters,
                        void**) {
  if (const CUresult result = CheckContext(); result != CUDA_SUCCESS) return result;
  if (grid_y != 1 || grid_z != 1 || block_y != 1 || block_z != 1) return CUDA_ERROR_INVALID_VALUE;
  const CUresult fits = sgd::emulated::CheckLaunch(
      {grid_x, block_x, shared_bytes, Of(function)->dynamic_limit, Of(function)->parameters * sizeof(uint64_t)});
  if (fits != CUDA_SUCCESS) return fits;
  std::vector<uint64_t> arguments(Of(function)->parameters);
  for (size_t i = 0; i < arguments.size(); ++i) std::memcpy(&arguments[i], parameters[i], sizeof(uint64_t));
  const sgd::emulated::KernelLaunch launch{grid_x, block_x, shared_bytes};
  return Machine::OfThisThread().Enqueue(Of(stream), [=] { return RunKernel(*Of(function), launch, arguments); });
}

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
