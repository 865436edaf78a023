// Targets whose device needs libraries that not every machine has are plugins, opened when an artifact asks for them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/comm/collectives/communicator.h"
#include "runtime/device/device.h"
#include "runtime/device/topology.h"

namespace sgd::device {

struct DeviceRequest {
  uint32_t local_rank = 0;   // among the ranks of this host
  bool shares_gpus = false;  // whether several ranks may have one GPU
  // Whether the same inputs must give the same bits in every run, at the cost of some speed.
  bool is_deterministic = true;
  // Whether ranks of a pipeline send each other messages, for which the device waits while the host gives it more.
  bool has_messages = false;
  // Whether ranks exchange tensors though no artifact says so, by which OpenLibraries would know.
  bool has_collectives = false;
};

// A library that a plugin opens at run time.
struct PluginLibrary {
  std::string name;     // "cuDNN"
  std::string purpose;  // "convolutions and attention"
  absl::Status status;  // FailedPrecondition, saying what to install, if it cannot be opened
};

// The objects of a plugin. Lives as long as the process.
class TargetPlugin {
 public:
  virtual ~TargetPlugin() = default;

  // All devices of this host that ranks may use. FailedPrecondition when there are none.
  virtual absl::StatusOr<Topology> Describe() const = 0;

  // Tries all libraries that devices may need, whether there is a device or not.
  virtual std::vector<PluginLibrary> CheckLibraries() const = 0;

  virtual absl::StatusOr<std::unique_ptr<Device>> OpenDevice(const DeviceRequest& request) const = 0;

  // A communicator whose window is the device's memory. It borrows `device`, which OpenDevice made, and `control`, by
  // which the same ranks hear of each other and of failures.
  virtual absl::StatusOr<std::unique_ptr<comm::Communicator>> OpenCommunicator(Device& device, comm::Control& control,
                                                                               uint64_t window_bytes,
                                                                               absl::Duration timeout) const = 0;
};

// The name of the function that a plugin exports: const TargetPlugin* (*)().
inline constexpr char kModuleEntry[] = "sgd_target_module";

// The name of the text that a plugin exports, SGD_INTERFACE_HASH: a hash of the headers that program and plugin share.
inline constexpr char kModuleInterface[] = "sgd_target_interface";

// Opens lib/sgd/sgd_target_<target>.so of this build or installation. FailedPrecondition, naming the file, when this
// build has it not, or when it was built from other headers than this program.
absl::StatusOr<const TargetPlugin*> OpenTargetPlugin(const std::string& target);

}  // namespace sgd::device
