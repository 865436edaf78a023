// The functions of cuDNN's graph API that we call, found at run time, and its errors as statuses.
#pragma once

#include <cudnn_graph.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "targets/gpu/device/driver/dynamic_library.h"

namespace sgd::cuda {

#define SGD_CUDNN_FUNCTIONS(F)     \
  F(cudnnGetVersion)               \
  F(cudnnGetErrorString)           \
  F(cudnnCreate)                   \
  F(cudnnDestroy)                  \
  F(cudnnSetStream)                \
  F(cudnnBackendCreateDescriptor)  \
  F(cudnnBackendDestroyDescriptor) \
  F(cudnnBackendFinalize)          \
  F(cudnnBackendSetAttribute)      \
  F(cudnnBackendGetAttribute)      \
  F(cudnnBackendExecute)

class CudnnDescriptor;

class Cudnn {
 public:
  // The library without a handle, to check that it is there and of a known version. FailedPrecondition as for Open.
  static absl::StatusOr<std::unique_ptr<Cudnn>> Load();
  // For the GPU of the current context. FailedPrecondition when the library is missing or older than version 9.
  static absl::StatusOr<std::unique_ptr<Cudnn>> Open();
  // For a GPU that is not there, described as cuDNN does (CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, version 9.8 and
  // later): plans can be made and not executed.
  static absl::StatusOr<std::unique_ptr<Cudnn>> OpenFor(std::string_view device_properties);
  ~Cudnn();
  Cudnn(const Cudnn&) = delete;
  Cudnn& operator=(const Cudnn&) = delete;

#define SGD_DECLARE(name) decltype(&::name) name = nullptr;
  SGD_CUDNN_FUNCTIONS(SGD_DECLARE)
#undef SGD_DECLARE

  // Null with OpenFor.
  cudnnHandle_t handle() const { return handle_; }
  // Of OpenFor; else null.
  const CudnnDescriptor* device() const { return device_.get(); }
  size_t version() const { return cudnnGetVersion(); }  // e.g. 91900
  absl::Status Check(cudnnStatus_t result, std::string_view what) const;

 private:
  explicit Cudnn(DynamicLibrary library) : library_(std::move(library)) {}

  DynamicLibrary library_;
  cudnnHandle_t handle_ = nullptr;
  std::unique_ptr<CudnnDescriptor> device_;
};

// A descriptor of the graph API, destroyed with the object. It must not outlive `cudnn`.
class CudnnDescriptor {
 public:
  static absl::StatusOr<CudnnDescriptor> Create(const Cudnn& cudnn, cudnnBackendDescriptorType_t type);
  CudnnDescriptor(CudnnDescriptor&& other) noexcept : cudnn_(other.cudnn_), handle_(other.handle_) {
    other.handle_ = nullptr;
  }
  CudnnDescriptor& operator=(CudnnDescriptor&& other) noexcept {
    std::swap(cudnn_, other.cudnn_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~CudnnDescriptor();

  cudnnBackendDescriptor_t get() const { return handle_; }

  template <typename Value>
  absl::Status Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::span<const Value> values) {
    return cudnn_->Check(
        cudnn_->cudnnBackendSetAttribute(handle_, name, type, static_cast<int64_t>(values.size()), values.data()),
        "cuDNN does not take an attribute");
  }
  template <typename Value>
  absl::Status Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const Value& value) {
    return Set(name, type, std::span<const Value>(&value, 1));
  }
  absl::Status Set(cudnnBackendAttributeName_t name, const CudnnDescriptor& value) {
    return Set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, value.get());
  }
  // No attribute may be set afterwards.
  absl::Status Finalize(std::string_view what);

  // At most values.size() of them; how many there are.
  template <typename Value>
  absl::StatusOr<size_t> Get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                             std::span<Value> values) const {
    int64_t count = 0;
    absl::Status status =
        cudnn_->Check(cudnn_->cudnnBackendGetAttribute(handle_, name, type, static_cast<int64_t>(values.size()), &count,
                                                       values.data()),
                      "cuDNN does not tell an attribute");
    if (!status.ok()) return status;
    return static_cast<size_t>(count);
  }
  template <typename Value>
  absl::StatusOr<Value> Get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) const {
    Value value{};
    absl::StatusOr<size_t> count = Get(name, type, std::span<Value>(&value, 1));
    if (!count.ok()) return count.status();
    return value;
  }

 private:
  CudnnDescriptor(const Cudnn& cudnn, cudnnBackendDescriptor_t handle) : cudnn_(&cudnn), handle_(handle) {}

  const Cudnn* cudnn_;
  cudnnBackendDescriptor_t handle_;
};

}  // namespace sgd::cuda
