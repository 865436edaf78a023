// Fills the table of functions.
#include "targets/gpu/device/cudnn/cudnn.h"

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"

namespace sgd::cuda {
namespace {

constexpr size_t kLeastVersion = 90000, kLeastVersionWithoutGpu = 90800;

}  // namespace

absl::StatusOr<std::unique_ptr<Cudnn>> Cudnn::Load() {
  absl::StatusOr<DynamicLibrary> library =
      DynamicLibrary::Open({"libcudnn.so.9"}, "which computes convolutions and attention");
  if (!library.ok()) return library.status();
  auto cudnn = absl::WrapUnique(new Cudnn(*std::move(library)));
#define SGD_FIND(name) \
  if (absl::Status status = cudnn->library_.Find(#name, cudnn->name); !status.ok()) return status;
  SGD_CUDNN_FUNCTIONS(SGD_FIND)
#undef SGD_FIND
  if (cudnn->version() < kLeastVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat(cudnn->library_.path(), " is version ", cudnn->version(), "; cuDNN 9 is needed"));
  }
  return cudnn;
}

absl::StatusOr<std::unique_ptr<Cudnn>> Cudnn::Open() {
  absl::StatusOr<std::unique_ptr<Cudnn>> cudnn = Load();
  if (!cudnn.ok()) return cudnn;
  absl::Status status = (*cudnn)->Check((*cudnn)->cudnnCreate(&(*cudnn)->handle_), "cannot start cuDNN");
  if (!status.ok()) return status;
  return cudnn;
}

absl::StatusOr<std::unique_ptr<Cudnn>> Cudnn::OpenFor(std::string_view device_properties) {
  absl::StatusOr<std::unique_ptr<Cudnn>> cudnn = Load();
  if (!cudnn.ok()) return cudnn;
  if ((*cudnn)->version() < kLeastVersionWithoutGpu)
    return absl::FailedPreconditionError(
        "cuDNN before 9.8 plans nothing without a GPU; expected 9.8 or later; install it");
  absl::StatusOr<CudnnDescriptor> device = CudnnDescriptor::Create(**cudnn, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  if (!device.ok()) return device.status();
  absl::Status status = device->Set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                                    std::span<const char>(device_properties.data(), device_properties.size()));
  status.Update(device->Finalize("a description of a GPU"));
  if (!status.ok()) return status;
  (*cudnn)->device_ = std::make_unique<CudnnDescriptor>(*std::move(device));
  return cudnn;
}

Cudnn::~Cudnn() {
  device_.reset();
  if (handle_ != nullptr) cudnnDestroy(handle_);
}

absl::Status Cudnn::Check(cudnnStatus_t result, std::string_view what) const {
  if (result == CUDNN_STATUS_SUCCESS) return absl::OkStatus();
  const std::string message = absl::StrCat(std::string(what), ": ", cudnnGetErrorString(result));
  if (CUDNN_STATUS_CATEGORY(static_cast<int>(result)) == CUDNN_STATUS_NOT_SUPPORTED)
    return absl::UnimplementedError(message);
  return result == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED ? absl::ResourceExhaustedError(message)
                                                                        : absl::InternalError(message);
}

absl::StatusOr<CudnnDescriptor> CudnnDescriptor::Create(const Cudnn& cudnn, cudnnBackendDescriptorType_t type) {
  cudnnBackendDescriptor_t handle = nullptr;
  absl::Status status =
      cudnn.Check(cudnn.cudnnBackendCreateDescriptor(type, &handle), "cuDNN cannot make a descriptor");
  if (!status.ok()) return status;
  return CudnnDescriptor(cudnn, handle);
}

CudnnDescriptor::~CudnnDescriptor() {
  if (handle_ != nullptr) cudnn_->cudnnBackendDestroyDescriptor(handle_);
}

absl::Status CudnnDescriptor::Finalize(std::string_view what) {
  return cudnn_->Check(cudnn_->cudnnBackendFinalize(handle_), absl::StrCat("cuDNN refuses ", std::string(what)));
}

}  // namespace sgd::cuda
