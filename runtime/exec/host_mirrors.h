// Inputs and outputs of a program in the host's memory, for a device whose memory the host cannot use. Copies are made
// when one side is asked for what only the other one has, and memory is held for as long as they are of use.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "runtime/device/host_transfer.h"

namespace sgd::exec {

// A tensor on the device; its bytes are never touched by the host.
struct DevicePlace {
  std::byte* device;
  uint64_t bytes;
};

class HostMirrors {
 public:
  // Borrows the transfer.
  HostMirrors(device::HostTransfer& transfer, const std::vector<DevicePlace>& inputs,
              const std::vector<DevicePlace>& outputs);

  // An input to be filled as a whole; it goes to the device at the next Upload.
  std::span<std::byte> Fill(size_t input);
  // The device has another value of the input by now: what was filled before does not go to it.
  void Discard(size_t input);
  // The value of an input: as filled, else the device's at `place`, mostly the input's own.
  std::span<const std::byte> ReadInput(size_t input, const std::byte* place);
  // The value of an output after the last step; copied once a step.
  std::span<const std::byte> ReadOutput(size_t output);

  // Enqueues copies of all inputs that were filled since the last one.
  absl::Status Upload();
  // A step begins on the device: the host's copies are out of date.
  void BeginStep();
  // The first step that has not ended ends: copies that were enqueued before it are complete, and their memory is
  // released.
  void EndStep();

  // The first copy that failed: what was read since then is not to be used.
  const absl::Status& status() const { return status_; }

 private:
  struct Mirror {
    DevicePlace place;
    std::vector<std::byte> host = {};  // empty while nobody needs it
    bool is_filled = false;            // inputs: newer than the device's
    bool is_current = false;           // as the device's
    uint64_t used_before = 0;          // the step that followed the last use
  };

  std::span<std::byte> Hold(Mirror& mirror);
  std::span<const std::byte> Read(Mirror& mirror, const std::byte* place);

  device::HostTransfer& transfer_;
  std::vector<Mirror> inputs_, outputs_;
  uint64_t begun_ = 0, ended_ = 0;  // steps
  bool holds_memory_ = false;
  absl::Status status_;
};

}  // namespace sgd::exec
