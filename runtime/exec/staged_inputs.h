// Inputs that steps do not hand to each other, on a device that the host feeds by copies: each has other places on the
// device, from which a step takes it when it begins. So the next step's bytes are in flight while a step runs, and what
// steps overwrite is restored without crossing again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "runtime/device/host_transfer.h"
#include "runtime/device/streams.h"
#include "runtime/exec/host_mirrors.h"

namespace sgd::exec {

class StagedInputs {
 public:
  // Steps alternate between two slots, of pinned memory and of the device's; when a step is enqueued,
  // the one before the last must be complete.
  static constexpr uint32_t kSlots = 2;

  // `fed` are filled by the host before every step, `kept` hold the same before every step: what is in their places
  // when the streams come to it. Borrows the device, which has streams and a host transfer. ResourceExhausted when
  // device or host have not that much memory.
  static absl::StatusOr<std::unique_ptr<StagedInputs>> Create(device::Device& device,
                                                              const std::vector<DevicePlace>& fed,
                                                              const std::vector<DevicePlace>& kept);

  // Pinned memory for fed[i] of the next step, which uses the slot; to be filled as a whole.
  std::span<std::byte> Fill(size_t i, uint32_t slot);
  // Where the device holds kept[i].
  const std::byte* KeptPlace(size_t i) const;

  // Enqueues a copy of the filled bytes into the slot to the device, beside the step that runs; stream 0 waits for it.
  // FailedPrecondition when not all was filled.
  absl::Status Upload(uint32_t slot);
  // Enqueues the copies from the slot to the inputs. A capture may hold them: they are the same for all steps
  // of a slot.
  absl::Status Take(uint32_t slot);
  bool is_empty() const { return kept_copies_.empty() && fed_copies_[0].empty(); }

  // Of the device and of pinned memory of the host.
  uint64_t device_bytes() const { return staging_ == nullptr ? 0 : staging_->size(); }
  uint64_t host_bytes() const { return pinned_ == nullptr ? 0 : pinned_->size(); }

 private:
  struct Place {
    DevicePlace input;
    uint64_t offset;  // of fed ones in each slot, of kept ones behind the slots
    bool is_filled = false;
  };

  explicit StagedInputs(device::Device& device) : device_(device) {}
  absl::Status Prepare(const std::vector<DevicePlace>& fed, const std::vector<DevicePlace>& kept);
  absl::Status KeepAll();
  absl::Status AddCopies(const std::vector<Place>& places, uint64_t from,
                         std::vector<std::unique_ptr<device::Thunk>>& copies);

  device::Device& device_;
  std::vector<Place> fed_, kept_;
  uint64_t fed_bytes_ = 0;  // of a slot
  std::unique_ptr<device::Arena> staging_, pinned_;
  std::unique_ptr<device::Event> uploaded_;  // of the last step
  // From staging to the inputs' places.
  std::vector<std::unique_ptr<device::Thunk>> fed_copies_[kSlots], kept_copies_;
};

}  // namespace sgd::exec
