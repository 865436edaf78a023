// One copy from the host per step, however many inputs: they are contiguous on both sides. A slot is free for the
// next copy when the step that used it has ended, which the host awaits before it enqueues the step after the next.
#include "runtime/exec/staged_inputs.h"

#include <utility>

#include "absl/memory/memory.h"

namespace sgd::exec {
namespace {

using device::Streams;

constexpr uint32_t kCompute = 0;
constexpr uint64_t kStagingAlignment = 256;

uint64_t Rounded(uint64_t bytes) { return (bytes + kStagingAlignment - 1) / kStagingAlignment * kStagingAlignment; }

}  // namespace

absl::StatusOr<std::unique_ptr<StagedInputs>> StagedInputs::Create(device::Device& device,
                                                                   const std::vector<DevicePlace>& fed,
                                                                   const std::vector<DevicePlace>& kept) {
  auto staged = absl::WrapUnique(new StagedInputs(device));
  if (absl::Status status = staged->Prepare(fed, kept); !status.ok()) return status;
  return staged;
}

absl::Status StagedInputs::Prepare(const std::vector<DevicePlace>& fed, const std::vector<DevicePlace>& kept) {
  for (const DevicePlace& place : fed) {
    fed_.push_back({place, fed_bytes_});
    fed_bytes_ += Rounded(place.bytes);
  }
  uint64_t bytes = kSlots * fed_bytes_;
  for (const DevicePlace& place : kept) {
    kept_.push_back({place, bytes});
    bytes += Rounded(place.bytes);
  }
  if (bytes == 0) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<device::Arena>> staging = device_.Allocate(bytes);
  if (!staging.ok()) return staging.status();
  staging_ = *std::move(staging);
  absl::StatusOr<std::unique_ptr<device::Arena>> pinned = device_.host_transfer()->AllocateHost(kSlots * fed_bytes_);
  if (!pinned.ok()) return pinned.status();
  pinned_ = *std::move(pinned);
  absl::StatusOr<std::unique_ptr<device::Event>> event = device_.streams()->MakeEvent();
  if (!event.ok()) return event.status();
  uploaded_ = *std::move(event);
  if (absl::Status status = KeepAll(); !status.ok()) return status;
  if (absl::Status status = AddCopies(kept_, 0, kept_copies_); !status.ok()) return status;
  for (uint32_t slot = 0; slot < kSlots; ++slot) {
    if (absl::Status status = AddCopies(fed_, slot * fed_bytes_, fed_copies_[slot]); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status StagedInputs::KeepAll() {
  for (const Place& place : kept_) {
    device::PreparedThunk copy =
        device_.PrepareCopy(place.input.device, staging_->data() + place.offset, place.input.bytes);
    if (!copy.ok()) return copy.status();
    if (absl::Status status = (*copy)->Execute(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status StagedInputs::AddCopies(const std::vector<Place>& places, uint64_t from,
                                     std::vector<std::unique_ptr<device::Thunk>>& copies) {
  for (const Place& place : places) {
    if (place.input.bytes == 0) continue;
    device::PreparedThunk copy =
        device_.PrepareCopy(staging_->data() + from + place.offset, place.input.device, place.input.bytes);
    if (!copy.ok()) return copy.status();
    copies.push_back(*std::move(copy));
  }
  return absl::OkStatus();
}

std::span<std::byte> StagedInputs::Fill(size_t i, uint32_t slot) {
  Place& place = fed_[i];
  place.is_filled = true;
  if (place.input.bytes == 0) return {};
  return {pinned_->data() + slot * fed_bytes_ + place.offset, place.input.bytes};
}

const std::byte* StagedInputs::KeptPlace(size_t i) const {
  return staging_ == nullptr ? kept_[i].input.device : staging_->data() + kept_[i].offset;
}

absl::Status StagedInputs::Upload(uint32_t slot) {
  if (fed_bytes_ == 0) return absl::OkStatus();
  for (Place& place : fed_) {
    if (!std::exchange(place.is_filled, false))
      return absl::FailedPreconditionError("an input that is fed was not filled for this step");
  }
  const uint64_t begin = slot * fed_bytes_;
  absl::Status status = device_.host_transfer()->Upload({pinned_->data() + begin, fed_bytes_}, staging_->data() + begin,
                                                        Streams::kCopies);
  if (status.ok()) status = uploaded_->Record(Streams::kCopies);
  return status.ok() ? uploaded_->Wait(kCompute) : status;
}

absl::Status StagedInputs::Take(uint32_t slot) {
  for (const auto* copies : {&fed_copies_[slot], &kept_copies_}) {
    for (const std::unique_ptr<device::Thunk>& copy : *copies) {
      if (absl::Status status = copy->Execute(); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace sgd::exec
