// Copies between the host's memory and that of a device which the host cannot address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/device.h"

namespace sgd::device {

class HostTransfer {
 public:
  virtual ~HostTransfer() = default;

  // Memory of the host that copies run fast from and to; zero at the start. ResourceExhausted when there is not that
  // much.
  virtual absl::StatusOr<std::unique_ptr<Arena>> AllocateHost(uint64_t bytes) = 0;

  // Enqueues a copy to the device, on stream 0 or on another one of its Streams; `source` must stay as it is until that
  // is complete.
  virtual absl::Status Upload(std::span<const std::byte> source, std::byte* target, uint32_t stream = 0) = 0;

  // Enqueues a copy from the device to memory of AllocateHost, on stream 0.
  virtual absl::Status Fetch(const std::byte* source, std::span<std::byte> target) = 0;

  // The same to any memory of the host, and returns when it is done; work on other streams goes on.
  virtual absl::Status Read(const std::byte* source, std::span<std::byte> target) = 0;

  // Copies from the device what is there once everything enqueued so far is complete, and returns when it is done.
  virtual absl::Status Download(const std::byte* source, std::span<std::byte> target) = 0;
};

}  // namespace sgd::device
