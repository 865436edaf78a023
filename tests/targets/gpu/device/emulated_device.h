// A device on the fakes of NVIDIA's libraries, and typed access to its memory.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/device/host_transfer.h"
#include "targets/gpu/device/cuda_device.h"

namespace sgd::testing {

// Sets a variable of the environment for as long as it lives.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    const char* before = getenv(name);
    had_value_ = before != nullptr;
    if (had_value_) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~ScopedVariable() { had_value_ ? setenv(name_, before_.c_str(), 1) : unsetenv(name_); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
  bool had_value_;
  std::string before_;
};

class EmulatedDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<std::unique_ptr<cuda::CudaDevice>> device = cuda::CudaDevice::Create({});
    ASSERT_TRUE(device.ok()) << device.status();
    device_ = *std::move(device);
  }

  template <typename T>
  void Put(std::byte* target, const std::vector<T>& values) {
    ASSERT_TRUE(device_->host_transfer()->Upload(std::as_bytes(std::span(values)), target).ok());
    ASSERT_TRUE(device_->Synchronize().ok());
  }
  template <typename T>
  std::vector<T> Get(const std::byte* source, size_t count) {
    std::vector<T> values(count);
    absl::Status status = device_->host_transfer()->Download(source, std::as_writable_bytes(std::span(values)));
    EXPECT_TRUE(status.ok()) << status;
    return values;
  }

  ScopedVariable libraries_{"SGD_CUDA_LIBRARIES", SGD_CUDA_DOUBLES};
  std::unique_ptr<cuda::CudaDevice> device_;
};

}  // namespace sgd::testing
