// Ordinary memory: the driver copies through pinned memory of its own, and tensors that cross once need no more.
#include "runtime/exec/host_mirrors.h"

#include <utility>

namespace sgd::exec {

HostMirrors::HostMirrors(device::HostTransfer& transfer, const std::vector<DevicePlace>& inputs,
                         const std::vector<DevicePlace>& outputs)
    : transfer_(transfer) {
  for (const DevicePlace& place : inputs) inputs_.push_back({place});
  for (const DevicePlace& place : outputs) outputs_.push_back({place});
}

std::span<std::byte> HostMirrors::Hold(Mirror& mirror) {
  mirror.host.resize(mirror.place.bytes);
  mirror.used_before = begun_;
  holds_memory_ = true;
  return mirror.host;
}

std::span<std::byte> HostMirrors::Fill(size_t input) {
  inputs_[input].is_filled = true;
  return Hold(inputs_[input]);
}

void HostMirrors::Discard(size_t input) {
  inputs_[input].is_filled = false;
  inputs_[input].is_current = false;
}

std::span<const std::byte> HostMirrors::ReadInput(size_t input, const std::byte* place) {
  return inputs_[input].is_filled ? Hold(inputs_[input]) : Read(inputs_[input], place);
}

std::span<const std::byte> HostMirrors::ReadOutput(size_t output) {
  return Read(outputs_[output], outputs_[output].place.device);
}

std::span<const std::byte> HostMirrors::Read(Mirror& mirror, const std::byte* place) {
  const std::span<std::byte> host = Hold(mirror);
  if (!std::exchange(mirror.is_current, true)) status_.Update(transfer_.Download(place, host));
  return host;
}

absl::Status HostMirrors::Upload() {
  if (!holds_memory_) return absl::OkStatus();
  for (Mirror& input : inputs_) {
    if (!std::exchange(input.is_filled, false)) continue;
    if (absl::Status status = transfer_.Upload(Hold(input), input.place.device); !status.ok()) return status;
    input.is_current = true;
  }
  return absl::OkStatus();
}

void HostMirrors::BeginStep() {
  ++begun_;
  if (!holds_memory_) return;
  for (std::vector<Mirror>* mirrors : {&inputs_, &outputs_}) {
    for (Mirror& mirror : *mirrors) mirror.is_current = false;
  }
}

void HostMirrors::EndStep() {
  ++ended_;
  if (!std::exchange(holds_memory_, false)) return;
  for (std::vector<Mirror>* mirrors : {&inputs_, &outputs_}) {
    for (Mirror& mirror : *mirrors) {
      if (!mirror.is_filled && !mirror.is_current && mirror.used_before < ended_) mirror.host = {};
      holds_memory_ = holds_memory_ || !mirror.host.empty();
    }
  }
}

}  // namespace sgd::exec
