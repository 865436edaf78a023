// The exports of the plugin.
#include <memory>

#include "runtime/device/interface_hash.h"
#include "runtime/device/target_plugin.h"
#include "targets/gpu/device/cuda_communicator.h"
#include "targets/gpu/device/cuda_device.h"
#include "targets/gpu/device/cudnn/cudnn.h"
#include "targets/gpu/device/driver/gpu_info.h"
#include "targets/gpu/device/matmul/cublas_lt.h"
#include "targets/gpu/device/nccl/nccl.h"

namespace sgd::cuda {
namespace {

class CudaModule final : public device::TargetPlugin {
 public:
  absl::StatusOr<device::Topology> Describe() const override {
    absl::StatusOr<std::shared_ptr<const Driver>> driver = Driver::Load();
    if (!driver.ok()) return driver.status();
    return DescribeGpus(**driver);
  }

  std::vector<device::PluginLibrary> CheckLibraries() const override {
    constexpr int kAnyDriver = 1 << 20;  // also finds libraries that only newer drivers run
    absl::Status cublas = CublasLt::Open(kAnyDriver).status();
    // It is found, but starts with a driver only.
    if (absl::IsInternal(cublas) && !Driver::Load().ok()) cublas = absl::OkStatus();
    return {{"cuBLASLt", "matmuls", cublas},
            {"cuDNN", "convolutions and attention", Cudnn::Load().status()},
            {"NCCL", "collectives", Nccl::Open(/*deterministic=*/true).status()}};
  }

  absl::StatusOr<std::unique_ptr<device::Device>> OpenDevice(const device::DeviceRequest& request) const override {
    absl::StatusOr<std::unique_ptr<CudaDevice>> device =
        CudaDevice::Create({.local_rank = request.local_rank,
                            .shares_gpus = request.shares_gpus,
                            .is_deterministic = request.is_deterministic,
                            .has_messages = request.has_messages});
    if (!device.ok()) return device.status();
    if (request.has_collectives) {
      if (absl::Status status = (*device)->nccl().status(); !status.ok()) return status;
    }
    return device;
  }

  absl::StatusOr<std::unique_ptr<comm::Communicator>> OpenCommunicator(device::Device& device, comm::Control& control,
                                                                       uint64_t window_bytes,
                                                                       absl::Duration timeout) const override {
    return CudaCommunicator::Create(static_cast<CudaDevice&>(device), control, window_bytes, timeout);
  }
};

}  // namespace
}  // namespace sgd::cuda

extern "C" {

__attribute__((visibility("default"))) extern const char sgd_target_interface[] = SGD_INTERFACE_HASH;

__attribute__((visibility("default"))) const sgd::device::TargetPlugin* sgd_target_module() {
  static const sgd::cuda::CudaModule plugin;
  return &plugin;
}

}  // extern "C"
