// The device that a rank computes on, and the communicator whose windows it can reach.
#pragma once

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "runtime/comm/communicator.h"
#include "runtime/device/device.h"
#include "runtime/device/target_plugin.h"
#include "runtime/launch/launch.h"
#include "runtime/train/job.h"

namespace sgd::train {

// Opens the device of artifacts for "cpu", which is built into the program; those of other targets are plugins.
using OpenCpu = std::function<absl::StatusOr<std::unique_ptr<device::Device>>(const launch::RankContext& rank)>;

class RankDevice {
 public:
  // Opens what the artifact was compiled for. FailedPrecondition when that is not what --device says, or this build or
  // machine has it not.
  static absl::StatusOr<RankDevice> Open(const Job& job, const launch::RankContext& rank, const OpenCpu& open_cpu);

  device::Device& device() const { return *device_; }

  // Makes the communicator that programs use. All ranks call it, when they have agreed. Unimplemented for CPUs of
  // several hosts.
  absl::Status Connect(const Job& job, const launch::RankContext& rank);
  comm::Communicator& communicator() const { return *communicator_; }
  // Ends the job with this cause, and what the device has in flight.
  void Abort(const absl::Status& cause) {
    if (communicator_ != nullptr) communicator_->EndJob(cause);
  }

 private:
  absl::Status BindNearDevice(const Job& job, const launch::RankContext& rank) const;

  const device::TargetPlugin* plugin_ = nullptr;  // null for CPUs, which are built in
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<comm::Communicator> own_communicator_;
  comm::Communicator* communicator_ = nullptr;
};

// Bytes of window that the ranks' own communicator has to have.
uint64_t HostWindowBytes(const artifact::ArtifactFile& file);

}  // namespace sgd::train
