// Inputs and outputs of a program in the host's memory, for a device whose memory the host cannot use. Copies are made
// when one side is asked for what only the other one has.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "runtime/device/host_transfer.h"

namespace sgd::exec {

class HostMirrors {
 public:
  // A tensor on the device; its bytes are never touched by the host.
  struct Place {
    std::byte* device;
    uint64_t bytes;
  };

  // Borrows the transfer. ResourceExhausted when the host has not that much memory.
  static absl::StatusOr<std::unique_ptr<HostMirrors>> Create(device::HostTransfer& transfer,
                                                             const std::vector<Place>& inputs,
                                                             const std::vector<Place>& outputs);

  // An input to be filled as a whole; it goes to the device at the next Upload.
  std::span<std::byte> Fill(size_t input);
  // What an input holds: as filled, else as the device has it.
  std::span<const std::byte> ReadInput(size_t input);
  // What the last step has left in an output; copied once a step.
  std::span<const std::byte> ReadOutput(size_t output);

  // Enqueues copies of all inputs that were filled since the last one.
  absl::Status Upload();
  // A step has run: what the host has of outputs is out of date.
  void Outdate();

  // The first copy that failed: what was read since then is not to be used.
  const absl::Status& status() const { return status_; }

 private:
  struct Mirror {
    Place place;
    std::span<std::byte> host;
    bool is_filled = false;   // inputs: newer than the device's
    bool is_current = false;  // outputs: as the device's
  };

  explicit HostMirrors(device::HostTransfer& transfer) : transfer_(transfer) {}
  void Download(const Mirror& mirror);

  device::HostTransfer& transfer_;
  std::unique_ptr<device::Arena> arena_;
  std::vector<Mirror> inputs_, outputs_;
  absl::Status status_;
};

}  // namespace sgd::exec
