// Read on a stream of its own.
#include "targets/gpu/device/memory/progress_mark.h"

#include <utility>

#include "absl/memory/memory.h"
#include "runtime/clock/steady_clock.h"

namespace sgd::cuda {
namespace {

constexpr absl::Duration kPatience = absl::Milliseconds(500);

}  // namespace

absl::StatusOr<std::unique_ptr<ProgressMark>> ProgressMark::Create(CudaStreams& streams,
                                                                   std::shared_ptr<const Driver> driver,
                                                                   uint32_t marks) {
  auto mark = absl::WrapUnique(new ProgressMark(driver));
  absl::StatusOr<std::unique_ptr<device::Arena>> memory = AllocateOnDevice(streams, driver, marks * sizeof(uint32_t));
  if (!memory.ok()) return memory.status();
  mark->memory_ = *std::move(memory);
  void* copy = nullptr;
  absl::Status status = driver->Check(driver->cuMemHostAlloc(&copy, mark->memory_->size(), CU_MEMHOSTALLOC_PORTABLE),
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

absl::Status ProgressMark::Set(uint32_t mark, uint32_t number, CUstream stream) const {
  const CUdeviceptr place = AddressOf(memory_->data()) + mark * sizeof(uint32_t);
  return driver_->Check(driver_->cuMemsetD32Async(place, number, 1, stream), "cannot set a mark");
}

std::vector<uint32_t> ProgressMark::Read() const {
  std::vector<uint32_t> marks(memory_->size() / sizeof(uint32_t), 0);
  auto* const copy = static_cast<uint32_t*>(copy_.get());
  const CUresult copied = driver_->cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(copy), AddressOf(memory_->data()),
                                                 memory_->size(), stream_.get());
  if (copied != CUDA_SUCCESS) return marks;
  const absl::Time end = SteadyNow() + kPatience;
  CUresult state = CUDA_ERROR_NOT_READY;
  while (state == CUDA_ERROR_NOT_READY && SteadyNow() < end) state = driver_->cuStreamQuery(stream_.get());
  if (state == CUDA_SUCCESS) marks.assign(copy, copy + marks.size());
  return marks;
}

}  // namespace sgd::cuda
