// One suite for every Device: instantiate DeviceConformance with a factory, and link
// conformance_*.cpp into the test.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/device/device.h"

namespace sgd::testing {

struct DeviceFactory {
  std::string name;
  // A device with that many compute threads. The artifact's test kernels must run on it.
  std::function<absl::StatusOr<std::unique_ptr<device::Device>>(uint32_t threads)> create;
};

class DeviceConformance : public ::testing::TestWithParam<DeviceFactory> {
 protected:
  std::unique_ptr<device::Device> MakeDevice(uint32_t threads) {
    absl::StatusOr<std::unique_ptr<device::Device>> device = GetParam().create(threads);
    EXPECT_TRUE(device.ok()) << device.status();
    return device.ok() ? *std::move(device) : nullptr;
  }
};

// An arena with typed access; the map's private space.
class TestArena {
 public:
  TestArena(device::Device& device, uint64_t bytes) : arena_(*device.Allocate(bytes)) {
    map_.private_base = arena_->data();
  }
  const device::MemoryMap& map() const { return map_; }
  std::byte* data() { return arena_->data(); }

  template <typename T>
  void Put(uint64_t offset, const std::vector<T>& values) {
    if (!values.empty()) std::memcpy(data() + offset, values.data(), values.size() * sizeof(T));
  }
  template <typename T>
  std::vector<T> Get(uint64_t offset, size_t count) {
    std::vector<T> values(count);
    if (count > 0) std::memcpy(values.data(), data() + offset, count * sizeof(T));
    return values;
  }

 private:
  std::unique_ptr<device::Arena> arena_;
  device::MemoryMap map_;
};

}  // namespace sgd::testing
