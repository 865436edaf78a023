// The client, its devices and their memories: N CPU devices of this process, each with one memory.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugins/pjrt/errors.h"
#include "plugins/pjrt/rank_pool.h"

struct PJRT_DeviceDescription {
  int id = 0;
  std::string text;  // as a user sees it
};

struct PJRT_Memory {
  PJRT_Device* device = nullptr;  // null where no client is
  int id = 0;
  std::string text;
};

struct PJRT_Device {
  PJRT_Client* client = nullptr;
  PJRT_DeviceDescription* description = nullptr;  // of the client's topology
  PJRT_Memory memory;
  PJRT_Memory* memories[1] = {&memory};
  PJRT_Device* self = this;
};

struct PJRT_TopologyDescription {
  explicit PJRT_TopologyDescription(uint32_t devices);

  std::vector<std::unique_ptr<PJRT_DeviceDescription>> descriptions;
  std::vector<PJRT_DeviceDescription*> pointers;  // to them
};

struct PJRT_Client {
  explicit PJRT_Client(uint32_t count);

  PJRT_TopologyDescription topology;
  std::vector<std::unique_ptr<PJRT_Device>> devices;
  std::vector<PJRT_Device*> device_pointers;  // to them
  std::vector<PJRT_Memory*> memory_pointers;  // of them
  // Programs run one at a time. Guards the memory of programs, and which buffers are in it.
  std::shared_ptr<sgd::pjrt::RankPools> ranks;
};

namespace sgd::pjrt {

inline constexpr std::string_view kPlatform = "sgd";
inline constexpr std::string_view kDeviceKind = "cpu";
inline constexpr std::string_view kMemoryKind = "device";

// The number of devices that SGD_NUM_DEVICES asks for, 1 without it. InvalidArgument for what is no number of 1 to
// 4096.
absl::StatusOr<uint32_t> NumberOfDevices();

// Fills the entries of the API that concern plugin, client, devices, memories and topologies.
void AddClientEntries(PJRT_Api& api);

}  // namespace sgd::pjrt
