// Which class holds which tensor: mirrors for tensors that are copied now and then, staging for a step's inputs, pinned
// memory for its few bytes of scalar outputs.
#include "runtime/exec/host_tensors.h"

#include "absl/memory/memory.h"

namespace sgd::exec {
namespace {

constexpr uint64_t kFetchAlignment = 64;

}  // namespace

HostTensors::HostTensors(device::Device& device, const std::vector<DevicePlace>& inputs,
                         const std::vector<DevicePlace>& outputs)
    : device_(device),
      input_places_(inputs),
      mirrors_(*device.host_transfer(), inputs, outputs),
      fed_(inputs.size()),
      kept_(inputs.size()),
      fetch_of_(outputs.size()) {}

absl::StatusOr<std::unique_ptr<HostTensors>> HostTensors::Create(device::Device& device,
                                                                 const std::vector<DevicePlace>& inputs,
                                                                 const std::vector<DevicePlace>& outputs,
                                                                 const std::vector<size_t>& fetched) {
  auto tensors = absl::WrapUnique(new HostTensors(device, inputs, outputs));
  for (size_t output : fetched) {
    tensors->fetch_of_[output] = tensors->fetches_.size();
    tensors->fetches_.push_back({outputs[output], tensors->fetch_bytes_});
    tensors->fetch_bytes_ += (outputs[output].bytes + kFetchAlignment - 1) / kFetchAlignment * kFetchAlignment;
  }
  absl::StatusOr<std::unique_ptr<device::Arena>> memory =
      device.host_transfer()->AllocateHost(kStepsUnderWay * tensors->fetch_bytes_);
  if (!memory.ok()) return memory.status();
  tensors->fetch_memory_ = *std::move(memory);
  return tensors;
}

absl::Status HostTensors::Stage(const std::vector<size_t>& fed, const std::vector<size_t>& kept) {
  // Kept inputs must be on the device.
  if (absl::Status status = mirrors_.Upload(); !status.ok()) return status;
  std::vector<DevicePlace> fed_places, kept_places;
  for (size_t i = 0; i < fed.size(); ++i) {
    fed_[fed[i]] = i;
    fed_places.push_back(input_places_[fed[i]]);
  }
  for (size_t i = 0; i < kept.size(); ++i) {
    kept_[kept[i]] = i;
    kept_places.push_back(input_places_[kept[i]]);
  }
  absl::StatusOr<std::unique_ptr<StagedInputs>> staged = StagedInputs::Create(device_, fed_places, kept_places);
  if (!staged.ok()) return staged.status();
  staged_ = *std::move(staged);
  return absl::OkStatus();
}

std::span<std::byte> HostTensors::FillInput(size_t input) {
  return fed_[input] ? staged_->Fill(*fed_[input], next_slot()) : mirrors_.Fill(input);
}

std::span<const std::byte> HostTensors::ReadInput(size_t input) {
  return mirrors_.ReadInput(input, kept_[input] ? staged_->KeptPlace(*kept_[input]) : input_places_[input].device);
}

std::span<std::byte> HostTensors::FetchedBytes(size_t fetch, uint64_t slot) const {
  const Fetch& fetched = fetches_[fetch];
  return {fetch_memory_->data() + slot * fetch_bytes_ + fetched.offset, fetched.place.bytes};
}

std::span<const std::byte> HostTensors::ReadOutput(size_t output) {
  if (fetch_of_[output] && ended_ > 0) return FetchedBytes(*fetch_of_[output], (ended_ - 1) % kStepsUnderWay);
  return mirrors_.ReadOutput(output);
}

absl::Status HostTensors::BeginStep() {
  absl::Status status = mirrors_.status();
  if (status.ok()) status = mirrors_.Upload();
  if (status.ok() && staged_ != nullptr) status = staged_->Upload(next_slot());
  mirrors_.BeginStep();
  ++begun_;
  return status;
}

absl::Status HostTensors::FetchOutputs(uint32_t slot) {
  for (size_t i = 0; i < fetches_.size(); ++i) {
    absl::Status status = device_.host_transfer()->Fetch(fetches_[i].place.device, FetchedBytes(i, slot));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void HostTensors::EndStep() {
  ++ended_;
  mirrors_.EndStep();
}

}  // namespace sgd::exec
