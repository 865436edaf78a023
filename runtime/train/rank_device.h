// The device that a rank computes on, and the communicator whose windows it can reach.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/collectives/communicator.h"
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
  // The same without an artifact, for ranks that exchange tensors: what --device says, by default CPUs.
  static absl::StatusOr<RankDevice> OpenWithoutArtifact(const RunOptions& options, const launch::RankContext& rank,
                                                        const OpenCpu& open_cpu);

  device::Device& device() const { return *device_; }

  // Makes the communicator that programs use. All ranks call it, when they have agreed.
  absl::Status Connect(const Job& job, const launch::RankContext& rank);
  // The same where the device needs no other memory than a window of so many bytes.
  absl::Status ConnectWindow(uint64_t window_bytes, const launch::RankContext& rank, absl::Duration timeout);
  comm::Communicator& communicator() const { return *communicator_; }
  // Ends the job with this cause, and what the device has in flight.
  void Abort(const absl::Status& cause) {
    if (communicator_ != nullptr) communicator_->EndJob(cause);
  }

 private:
  absl::Status OpenTarget(const std::string& target, const device::DeviceRequest& request,
                          const launch::RankContext& rank, const OpenCpu& open_cpu);
  absl::Status BindNearDevice(const launch::RankContext& rank, absl::Duration timeout) const;
  absl::Status OpenCommunicator(uint64_t window_bytes, const launch::RankContext& rank, absl::Duration timeout);

  const device::TargetPlugin* plugin_ = nullptr;  // null for CPUs, which are built in
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<comm::Communicator> own_communicator_;
  comm::Communicator* communicator_ = nullptr;
};

// Bytes of window that the ranks' own communicator has to have.
uint64_t HostWindowBytes(const artifact::ArtifactFile& file);

}  // namespace sgd::train
