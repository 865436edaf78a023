// Limits are those of compute capabilities 8.0 to 10.0 with drivers before 12.1, the narrowest that are supported.
#include "tests/targets/gpu/fakes/contract.h"

#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>

#include "tests/targets/gpu/fakes/machine.h"

namespace sgd::emulated {
namespace {

constexpr uint64_t kMostThreads = 1024;
constexpr uint64_t kMostBlocks = (uint64_t{1} << 31) - 1;
constexpr uint64_t kMostParameterBytes = 4096;

std::atomic<pid_t> process{0};
std::mutex mutex;
std::map<CUdevice, int> retained;
thread_local CUcontext current = nullptr;

}  // namespace

void NoteInit() { process = getpid(); }

CUcontext RetainContext(CUdevice device) {
  std::lock_guard lock(mutex);
  ++retained[device];
  return reinterpret_cast<CUcontext>(static_cast<uint64_t>(device) + 1);
}

CUresult ReleaseContext(CUdevice device) {
  std::lock_guard lock(mutex);
  if (retained[device] == 0) return CUDA_ERROR_INVALID_CONTEXT;
  --retained[device];
  return CUDA_SUCCESS;
}

CUresult SetContext(CUcontext context) {
  if (process != getpid()) return CUDA_ERROR_NOT_INITIALIZED;
  std::lock_guard lock(mutex);
  const auto device = static_cast<CUdevice>(reinterpret_cast<uint64_t>(context)) - 1;
  if (context != nullptr && retained[device] == 0) return CUDA_ERROR_INVALID_CONTEXT;
  current = context;
  return CUDA_SUCCESS;
}

CUresult CheckContext() {
  if (process != getpid()) return CUDA_ERROR_NOT_INITIALIZED;
  return current == nullptr ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

CUresult CheckNotCapturing() {
  const CUresult result = CheckContext();
  if (result != CUDA_SUCCESS) return result;
  return Machine::OfThisThread().is_capturing() ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

CUresult CheckLaunch(const LaunchShape& shape) {
  if (shape.blocks == 0 || shape.blocks > kMostBlocks) return CUDA_ERROR_INVALID_VALUE;
  if (shape.threads == 0 || shape.threads > kMostThreads) return CUDA_ERROR_INVALID_VALUE;
  if (shape.shared_bytes > shape.dynamic_limit) return CUDA_ERROR_INVALID_VALUE;
  return shape.parameter_bytes > kMostParameterBytes ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // namespace sgd::emulated
