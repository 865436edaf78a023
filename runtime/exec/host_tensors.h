// How the host reaches a program's inputs and outputs on a device whose memory it cannot use: by copies, which run
// beside the steps where tensors cross in every step.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "runtime/exec/host_mirrors.h"
#include "runtime/exec/staged_inputs.h"

namespace sgd::exec {

class HostTensors {
 public:
  // At most so many steps are in flight: given to the device and not ended.
  static constexpr uint64_t kStepsUnderWay = StagedInputs::kSlots;

  // `fetched` are the outputs whose bytes are there when a step has ended, small ones. Borrows the device, which has a
  // host transfer. ResourceExhausted when the host has no more pinned memory.
  static absl::StatusOr<std::unique_ptr<HostTensors>> Create(device::Device& device,
                                                             const std::vector<DevicePlace>& inputs,
                                                             const std::vector<DevicePlace>& outputs,
                                                             const std::vector<size_t>& fetched);

  // See Executor::StageInputs.
  absl::Status Stage(const std::vector<size_t>& fed, const std::vector<size_t>& kept);

  // As Executor has them.
  std::span<std::byte> FillInput(size_t input);
  void DiscardInput(size_t input) { mirrors_.Discard(input); }
  std::span<const std::byte> ReadInput(size_t input);
  std::span<const std::byte> ReadOutput(size_t output);

  // Steps use slots in turn: that of the next one to begin.
  uint32_t next_slot() const { return static_cast<uint32_t>(begun_ % kStepsUnderWay); }
  // A step begins: enqueues copies of what was filled for it.
  absl::Status BeginStep();
  // The copies on stream 0 at the begin and end of a step of the slot, the same for all of them.
  absl::Status TakeInputs(uint32_t slot) { return staged_->Take(slot); }
  absl::Status FetchOutputs(uint32_t slot);
  bool takes_inputs() const { return staged_ != nullptr && !staged_->is_empty(); }
  bool fetches_outputs() const { return !fetches_.empty(); }
  // The first step that has not ended ends.
  void EndStep();

  const absl::Status& status() const { return mirrors_.status(); }
  // Beside the program's arenas.
  uint64_t device_bytes() const { return staged_ == nullptr ? 0 : staged_->device_bytes(); }
  uint64_t pinned_bytes() const { return fetch_memory_->size() + (staged_ == nullptr ? 0 : staged_->host_bytes()); }

 private:
  struct Fetch {
    DevicePlace place;
    uint64_t offset;  // in each part of the memory
  };

  HostTensors(device::Device& device, const std::vector<DevicePlace>& inputs, const std::vector<DevicePlace>& outputs);
  std::span<std::byte> FetchedBytes(size_t fetch, uint64_t slot) const;

  device::Device& device_;
  std::vector<DevicePlace> input_places_;
  HostMirrors mirrors_;
  std::unique_ptr<StagedInputs> staged_;
  std::vector<std::optional<size_t>> fed_, kept_;  // by input: its number among the staged ones
  std::vector<std::optional<size_t>> fetch_of_;    // by output
  std::vector<Fetch> fetches_;
  uint64_t fetch_bytes_ = 0;                     // of one step
  std::unique_ptr<device::Arena> fetch_memory_;  // a part for each step in flight
  uint64_t begun_ = 0, ended_ = 0;               // steps
};

}  // namespace sgd::exec
