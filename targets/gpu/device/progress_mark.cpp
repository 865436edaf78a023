// Read on a stream of its own.
#include "targets/gpu/device/progress_mark.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/time/clock.h"

namespace sgd::cuda {
namespace {

constexpr absl::Duration kPatience = absl::Milliseconds(500);

}  // namespace

absl::StatusOr<std::unique_ptr<ProgressMark>> ProgressMark::Create(CudaStreams& streams,
                                                                   std::shared_ptr<const Driver> driver) {
  auto mark = absl::WrapUnique(new ProgressMark(driver));
  absl::StatusOr<std::unique_ptr<device::Arena>> memory = AllocateOnDevice(streams, driver, sizeof(uint32_t));
  if (!memory.ok()) return memory.status();
  mark->memory_ = *std::move(memory);
  void* copy = nullptr;
  absl::Status status = driver->Check(driver->cuMemHostAlloc(&copy, sizeof(uint32_t), CU_MEMHOSTALLOC_PORTABLE),
                                      "cannot allocate pinned host memory");
  if (!status.ok()) return status;
  mark->copy_ = PinnedMemory(driver, copy);
  CUstream stream = nullptr;
  status =
      driver->Check(driver->cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0), "cannot make a stream");
  if (!status.ok()) return status;
  mark->stream_ = Stream(driver, stream);
  return mark;
}

absl::Status ProgressMark::Set(uint32_t number, CUstream stream) const {
  return driver_->Check(driver_->cuMemsetD32Async(AddressOf(memory_->data()), number, 1, stream), "cannot set a mark");
}

uint32_t ProgressMark::Read() const {
  auto* const copy = static_cast<uint32_t*>(copy_.get());
  const CUresult copied = driver_->cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(copy), AddressOf(memory_->data()),
                                                 sizeof(uint32_t), stream_.get());
  if (copied != CUDA_SUCCESS) return 0;
  const absl::Time end = absl::Now() + kPatience;
  CUresult state = CUDA_ERROR_NOT_READY;
  while (state == CUDA_ERROR_NOT_READY && absl::Now() < end) state = driver_->cuStreamQuery(stream_.get());
  return state == CUDA_SUCCESS ? *copy : 0;
}

}  // namespace sgd::cuda
