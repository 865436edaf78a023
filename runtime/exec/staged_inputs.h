// Inputs that steps do not hand to each other, on a device that the host feeds by copies: each has a second place on
// the device, from which a step takes it when it begins. So the next step's bytes are under way while a step runs, and
// what steps overwrite is restored without crossing again.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "runtime/device/host_transfer.h"
#include "runtime/device/queues.h"
#include "runtime/exec/host_mirrors.h"

namespace sgd::exec {

class StagedInputs {
 public:
  // `fed` are filled by the host before every step, `kept` hold the same before every step: what is in their places
  // when the queues come to it. Borrows the device, which has queues and a host transfer. With `records` what a step
  // takes is recorded once and replayed. ResourceExhausted when device or host have not that much memory.
  static absl::StatusOr<std::unique_ptr<StagedInputs>> Create(device::Device& device,
                                                              const std::vector<DevicePlace>& fed,
                                                              const std::vector<DevicePlace>& kept, bool records);

  // Pinned memory for the next step's fed[i], to be filled as a whole. Two steps' worth exist: the step before the last
  // one given to the device must be complete.
  std::span<std::byte> Fill(size_t i);
  // Where the device holds kept[i].
  const std::byte* KeptPlace(size_t i) const;

  // Enqueues what a step begins with: copies of what was filled, beside the step that runs, and behind both its taking.
  absl::Status BeginStep();

  // Of the device and of pinned memory of the host.
  uint64_t device_bytes() const { return staging_ == nullptr ? 0 : staging_->size(); }
  uint64_t host_bytes() const { return pinned_ == nullptr ? 0 : pinned_->size(); }

 private:
  struct Slot {
    DevicePlace place;
    uint64_t offset;  // in the staging memory, and of fed ones in each half of the pinned memory
    bool is_filled = false;
  };

  explicit StagedInputs(device::Device& device, bool records) : device_(device), records_(records) {}
  absl::Status Prepare(const std::vector<DevicePlace>& fed, const std::vector<DevicePlace>& kept);
  absl::Status AddCopies();
  absl::Status Upload();
  absl::Status Take();
  absl::Status Record();

  device::Device& device_;
  bool records_;
  std::vector<Slot> fed_, kept_;
  uint64_t fed_bytes_ = 0;
  std::unique_ptr<device::Arena> staging_, pinned_;
  size_t half_ = 0;                                    // of the pinned memory, that the next step is filled into
  std::unique_ptr<device::Event> uploaded_, taken_;    // of the last step
  std::vector<std::unique_ptr<device::Node>> copies_;  // from staging to the inputs' places
  std::unique_ptr<device::Node> recording_;            // of the copies
};

}  // namespace sgd::exec
