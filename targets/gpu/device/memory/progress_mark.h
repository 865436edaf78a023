// Numbers in the GPU's memory that its streams set as they go on, so that the host can tell where a step, which it only
// launched, has come to. Costs a memset per mark.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "targets/gpu/device/driver/driver.h"
#include "targets/gpu/device/memory/memory.h"

namespace sgd::cuda {

class ProgressMark {
 public:
  // One for each of the streams that must be told apart.
  static absl::StatusOr<std::unique_ptr<ProgressMark>> Create(CudaStreams& streams,
                                                              std::shared_ptr<const Driver> driver, uint32_t marks = 1);

  // From when the stream comes here on, the mark is `number`.
  absl::Status Set(uint32_t mark, uint32_t number, CUstream stream) const;
  // The marks now, whatever the other streams wait for; 0 before the first one, and when the GPU does not answer.
  std::vector<uint32_t> Read() const;

 private:
  explicit ProgressMark(std::shared_ptr<const Driver> driver) : driver_(std::move(driver)) {}

  std::shared_ptr<const Driver> driver_;
  std::unique_ptr<device::Arena> memory_;  // one number for each mark
  PinnedMemory copy_;
  Stream stream_;
};

}  // namespace sgd::cuda
