// One arena of the host holds all mirrors, each on cache lines of its own.
#include "runtime/exec/host_mirrors.h"

#include <utility>

#include "absl/memory/memory.h"

namespace sgd::exec {
namespace {

constexpr uint64_t kAlignment = 64;

uint64_t Rounded(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

absl::StatusOr<std::unique_ptr<HostMirrors>> HostMirrors::Create(device::HostTransfer& transfer,
                                                                 const std::vector<Place>& inputs,
                                                                 const std::vector<Place>& outputs) {
  uint64_t bytes = 0;
  for (const std::vector<Place>* places : {&inputs, &outputs}) {
    for (const Place& place : *places) bytes += Rounded(place.bytes);
  }
  absl::StatusOr<std::unique_ptr<device::Arena>> arena = transfer.AllocateHost(bytes);
  if (!arena.ok()) return arena.status();
  auto mirrors = absl::WrapUnique(new HostMirrors(transfer));
  mirrors->arena_ = *std::move(arena);
  std::byte* at = mirrors->arena_->data();
  for (const auto& [places, target] :
       {std::pair(&inputs, &mirrors->inputs_), std::pair(&outputs, &mirrors->outputs_)}) {
    for (const Place& place : *places) {
      target->push_back({place, {at, place.bytes}});
      at += Rounded(place.bytes);
    }
  }
  return mirrors;
}

std::span<std::byte> HostMirrors::Fill(size_t input) {
  inputs_[input].is_filled = true;
  return inputs_[input].host;
}

std::span<const std::byte> HostMirrors::ReadInput(size_t input) {
  if (!inputs_[input].is_filled) Download(inputs_[input]);
  return inputs_[input].host;
}

std::span<const std::byte> HostMirrors::ReadOutput(size_t output) {
  Mirror& mirror = outputs_[output];
  if (!std::exchange(mirror.is_current, true)) Download(mirror);
  return mirror.host;
}

absl::Status HostMirrors::Upload() {
  for (Mirror& input : inputs_) {
    if (!std::exchange(input.is_filled, false)) continue;
    if (absl::Status status = transfer_.Upload(input.host, input.place.device); !status.ok()) return status;
  }
  return absl::OkStatus();
}

void HostMirrors::Outdate() {
  for (Mirror& output : outputs_) output.is_current = false;
}

void HostMirrors::Download(const Mirror& mirror) {
  status_.Update(transfer_.Download(mirror.place.device, mirror.host));
}

}  // namespace sgd::exec
