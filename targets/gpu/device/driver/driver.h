// The functions of the NVIDIA driver that we call, found at run time, and its errors as statuses.
#pragma once

#include <cuda.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "targets/gpu/device/driver/dynamic_library.h"

namespace sgd::cuda {

// cuda.h renames some functions to their current version, here as in calls.
#define SGD_DRIVER_FUNCTIONS(F)  \
  F(cuInit)                      \
  F(cuDriverGetVersion)          \
  F(cuGetErrorName)              \
  F(cuGetErrorString)            \
  F(cuDeviceGetCount)            \
  F(cuDeviceGet)                 \
  F(cuDeviceGetName)             \
  F(cuDeviceGetP2PAttribute)     \
  F(cuDeviceGetPCIBusId)         \
  F(cuDeviceTotalMem)            \
  F(cuDeviceGetAttribute)        \
  F(cuDevicePrimaryCtxRetain)    \
  F(cuDevicePrimaryCtxRelease)   \
  F(cuCtxSetCurrent)             \
  F(cuMemGetInfo)                \
  F(cuMemAlloc)                  \
  F(cuMemFree)                   \
  F(cuMemHostAlloc)              \
  F(cuMemFreeHost)               \
  F(cuMemcpyAsync)               \
  F(cuMemcpy2DAsync)             \
  F(cuMemsetD8Async)             \
  F(cuMemsetD16Async)            \
  F(cuMemsetD32Async)            \
  F(cuMemsetD2D8Async)           \
  F(cuMemsetD2D32Async)          \
  F(cuCtxGetStreamPriorityRange) \
  F(cuStreamCreateWithPriority)  \
  F(cuStreamDestroy)             \
  F(cuStreamSynchronize)         \
  F(cuStreamQuery)               \
  F(cuStreamWaitEvent)           \
  F(cuStreamBeginCapture)        \
  F(cuStreamEndCapture)          \
  F(cuEventCreate)               \
  F(cuEventDestroy)              \
  F(cuEventRecord)               \
  F(cuEventQuery)                \
  F(cuModuleLoadDataEx)          \
  F(cuModuleUnload)              \
  F(cuModuleGetFunction)         \
  F(cuFuncSetAttribute)          \
  F(cuLaunchKernel)              \
  F(cuGraphInstantiate)          \
  F(cuGraphUpload)               \
  F(cuGraphLaunch)               \
  F(cuGraphDestroy)              \
  F(cuGraphExecDestroy)

struct Driver {
#define SGD_DECLARE(name) decltype(&::name) name = nullptr;
  SGD_DRIVER_FUNCTIONS(SGD_DECLARE)
#undef SGD_DECLARE
  // cuEventElapsedTime, of the name that every driver has: cuda.h may rename it to one that came with CUDA 12.8.
  decltype(&::cuEventElapsedTime) elapsed_time = nullptr;

  // Opens libcuda.so.1 and starts it. FailedPrecondition without a driver, without a GPU that it can use, or with one
  // that is too old.
  static absl::StatusOr<std::shared_ptr<const Driver>> Load();

  // The CUDA version that the driver knows, e.g. 13000; from Load.
  int version = 0;

  // OK, or what failed and what to do about it; codes as of driver_errors.h. May be called before cuInit.
  absl::Status Check(CUresult result, const std::string& what) const;

 private:
  std::unique_ptr<DynamicLibrary> library_;
};

// Something that the driver made and `Destroy`, a member of Driver, takes back.
template <typename Handle, auto Destroy>
class UniqueHandle {
 public:
  UniqueHandle() = default;
  UniqueHandle(std::shared_ptr<const Driver> driver, Handle handle) : driver_(std::move(driver)), handle_(handle) {}
  UniqueHandle(UniqueHandle&& other) noexcept
      : driver_(std::move(other.driver_)), handle_(std::exchange(other.handle_, Handle{})) {}
  UniqueHandle& operator=(UniqueHandle&& other) noexcept {
    std::swap(driver_, other.driver_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  // An error here is one of something before, which was reported there.
  ~UniqueHandle() {
    if (handle_ != Handle{}) static_cast<void>((driver_.get()->*Destroy)(handle_));
  }

  Handle get() const { return handle_; }

 private:
  std::shared_ptr<const Driver> driver_;
  Handle handle_{};
};

using Stream = UniqueHandle<CUstream, &Driver::cuStreamDestroy>;
using Event = UniqueHandle<CUevent, &Driver::cuEventDestroy>;
using Module = UniqueHandle<CUmodule, &Driver::cuModuleUnload>;
using Graph = UniqueHandle<CUgraph, &Driver::cuGraphDestroy>;
using ExecutableGraph = UniqueHandle<CUgraphExec, &Driver::cuGraphExecDestroy>;
using DeviceMemory = UniqueHandle<CUdeviceptr, &Driver::cuMemFree>;
using PinnedMemory = UniqueHandle<void*, &Driver::cuMemFreeHost>;

}  // namespace sgd::cuda
