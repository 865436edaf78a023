// The driver's demands on callers beside arguments that exist: started in this process, a context current on the
// calling thread, no call that a capture forbids, launches within limits. The fake refuses with the driver's own
// errors.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace sgd::emulated {

// cuInit: CUDA is of the process that called it, not of its children.
void NoteInit();
// cuDevicePrimaryCtxRetain and -Release.
CUcontext RetainContext(CUdevice device);
CUresult ReleaseContext(CUdevice device);
// Of the calling thread.
CUresult SetContext(CUcontext context);

// CUDA_ERROR_NOT_INITIALIZED or CUDA_ERROR_INVALID_CONTEXT where that is not so.
CUresult CheckContext();
// CheckContext, and CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED while this thread captures: for calls that allocate, free,
// load or wait.
CUresult CheckNotCapturing();

// Of a launch with one block dimension. `parameter_bytes` of all arguments together; `dynamic_limit` is what
// cuFuncSetAttribute has allowed.
struct LaunchShape {
  uint64_t blocks, threads, shared_bytes, dynamic_limit, parameter_bytes;
};
CUresult CheckLaunch(const LaunchShape& shape);

inline constexpr uint64_t kSharedBytes = 48 << 10;       // of a block, without asking
inline constexpr uint64_t kMostSharedBytes = 227 << 10;  // of sm_90 and sm_100, when asked for
inline constexpr uint64_t kMostPitch = (uint64_t{1} << 31) - 1;

}  // namespace sgd::emulated
