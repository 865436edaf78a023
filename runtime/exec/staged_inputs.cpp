// One copy from the host a step, however many inputs: they lie one after another on both sides.
#include "runtime/exec/staged_inputs.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"

namespace sgd::exec {
namespace {

using device::Queues;

constexpr uint32_t kCompute = 0;
constexpr uint64_t kAlignment = 256;

uint64_t Rounded(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

absl::StatusOr<std::unique_ptr<StagedInputs>> StagedInputs::Create(device::Device& device,
                                                                   const std::vector<DevicePlace>& fed,
                                                                   const std::vector<DevicePlace>& kept, bool records) {
  auto staged = absl::WrapUnique(new StagedInputs(device, records));
  if (absl::Status status = staged->Prepare(fed, kept); !status.ok()) return status;
  return staged;
}

absl::Status StagedInputs::Prepare(const std::vector<DevicePlace>& fed, const std::vector<DevicePlace>& kept) {
  uint64_t bytes = 0;
  for (const auto& [places, slots] : {std::pair(&fed, &fed_), std::pair(&kept, &kept_)}) {
    for (const DevicePlace& place : *places) {
      slots->push_back({place, bytes});
      bytes += Rounded(place.bytes);
    }
    if (slots == &fed_) fed_bytes_ = bytes;
  }
  if (bytes == 0) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<device::Arena>> staging = device_.Allocate(bytes);
  if (!staging.ok()) return staging.status();
  staging_ = *std::move(staging);
  absl::StatusOr<std::unique_ptr<device::Arena>> pinned = device_.host_transfer()->AllocateHost(2 * fed_bytes_);
  if (!pinned.ok()) return pinned.status();
  pinned_ = *std::move(pinned);
  for (std::unique_ptr<device::Event>* event : {&uploaded_, &taken_}) {
    absl::StatusOr<std::unique_ptr<device::Event>> made = device_.queues()->MakeEvent();
    if (!made.ok()) return made.status();
    *event = *std::move(made);
  }
  return AddCopies();
}

absl::Status StagedInputs::AddCopies() {
  for (const Slot& slot : kept_) {
    absl::StatusOr<std::unique_ptr<device::Node>> copy =
        device_.PrepareCopy(slot.place.device, staging_->data() + slot.offset, slot.place.bytes);
    if (!copy.ok()) return copy.status();
    if (absl::Status status = (*copy)->Execute(); !status.ok()) return status;
  }
  for (const std::vector<Slot>* slots : {&fed_, &kept_}) {
    for (const Slot& slot : *slots) {
      if (slot.place.bytes == 0) continue;
      absl::StatusOr<std::unique_ptr<device::Node>> copy =
          device_.PrepareCopy(staging_->data() + slot.offset, slot.place.device, slot.place.bytes);
      if (!copy.ok()) return copy.status();
      copies_.push_back(*std::move(copy));
    }
  }
  return absl::OkStatus();
}

std::span<std::byte> StagedInputs::Fill(size_t i) {
  Slot& slot = fed_[i];
  slot.is_filled = true;
  if (slot.place.bytes == 0) return {};
  return {pinned_->data() + half_ * fed_bytes_ + slot.offset, slot.place.bytes};
}

const std::byte* StagedInputs::KeptPlace(size_t i) const {
  return staging_ == nullptr ? kept_[i].place.device : staging_->data() + kept_[i].offset;
}

absl::Status StagedInputs::BeginStep() {
  if (copies_.empty()) return absl::OkStatus();
  absl::Status status = Upload();
  return status.ok() ? Take() : status;
}

absl::Status StagedInputs::Upload() {
  const auto filled = std::ranges::count_if(fed_, [](const Slot& slot) { return slot.is_filled; });
  if (filled == 0 || fed_bytes_ == 0) return absl::OkStatus();
  if (static_cast<size_t>(filled) != fed_.size())
    return absl::FailedPreconditionError("some inputs were filled for a step, and others that are fed were not");
  for (Slot& slot : fed_) slot.is_filled = false;
  const std::span<const std::byte> source(pinned_->data() + half_ * fed_bytes_, fed_bytes_);
  half_ = 1 - half_;
  absl::Status status = taken_->Wait(Queues::kCopies);
  if (status.ok()) status = device_.host_transfer()->Upload(source, staging_->data(), Queues::kCopies);
  if (status.ok()) status = uploaded_->Record(Queues::kCopies);
  return status.ok() ? uploaded_->Wait(kCompute) : status;
}

// The first time is not recorded, as with steps.
absl::Status StagedInputs::Take() {
  absl::Status status;
  if (recording_ != nullptr) {
    status = recording_->Execute();
  } else {
    for (const std::unique_ptr<device::Node>& copy : copies_) {
      if (status.ok()) status = copy->Execute();
    }
  }
  if (status.ok()) status = taken_->Record(kCompute);
  if (!status.ok() || recording_ != nullptr || !records_ || copies_.size() == 1) return status;
  return Record();
}

absl::Status StagedInputs::Record() {
  absl::Status status = device_.queues()->BeginRecording();
  for (const std::unique_ptr<device::Node>& copy : copies_) {
    if (status.ok()) status = copy->Execute();
  }
  absl::StatusOr<std::unique_ptr<device::Node>> recording = device_.queues()->EndRecording();
  if (!status.ok()) return status;
  if (!recording.ok()) return recording.status();
  recording_ = *std::move(recording);
  return absl::OkStatus();
}

}  // namespace sgd::exec
