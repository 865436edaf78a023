// After the driver API's description of CUresult.
#include "targets/gpu/device/driver/driver_errors.h"

namespace sgd::cuda {

absl::StatusCode CodeOf(CUresult result) {
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return absl::StatusCode::kResourceExhausted;
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_DEVICE_NOT_LICENSED:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
    case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
    case CUDA_ERROR_MPS_CONNECTION_FAILED:
    case CUDA_ERROR_STUB_LIBRARY:
    case CUDA_ERROR_OPERATING_SYSTEM:
    case CUDA_ERROR_NOT_PERMITTED:
      return absl::StatusCode::kFailedPrecondition;
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
      return absl::StatusCode::kDataLoss;
    default:
      return absl::StatusCode::kInternal;
  }
}

const char* AdviceFor(CUresult result) {
  switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_LAUNCH_FAILED:
      return "a kernel has failed, of this call or of an earlier one";
    case CUDA_ERROR_LAUNCH_TIMEOUT:
      return "the system stops kernels that run for long on a GPU with a display: use another GPU";
    case CUDA_ERROR_ECC_UNCORRECTABLE:
      return "its memory has an error that cannot be corrected: nvidia-smi -q -d ECC shows it, a reset may retire it";
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
      return "a link between GPUs has failed: nvidia-smi nvlink -e shows its errors";
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
      return "the GPU is lost: dmesg and nvidia-smi say whether it fell off the bus (Xid 79) or was reset; start again "
             "with --resume once it is back";
    case CUDA_ERROR_SYSTEM_NOT_READY:
      return "on machines with NVSwitch the fabric manager has to run: systemctl status nvidia-fabricmanager";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
      return "the kernel's driver and libcuda are of different versions: after an update the machine has to be "
             "restarted";
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
      return "a libcuda of CUDA's forward compatibility package was found, which this GPU does not take: use the "
             "driver's own";
    case CUDA_ERROR_STUB_LIBRARY:
      return "this libcuda is the toolkit's stub, for linking alone: take its folder out of LD_LIBRARY_PATH";
    case CUDA_ERROR_OPERATING_SYSTEM:
    case CUDA_ERROR_NOT_PERMITTED:
      return "this user, or this container, may not open the GPU: see /dev/nvidia*, and start containers with --gpus";
    case CUDA_ERROR_MPS_CONNECTION_FAILED:
      return "the control daemon of MPS does not answer: start it, or unset CUDA_MPS_PIPE_DIRECTORY";
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
      return "libnvidia-ptxjitcompiler is missing beside libcuda: install the whole driver, or start the container "
             "with "
             "the capability 'compute'";
    default:
      return "";
  }
}

}  // namespace sgd::cuda
