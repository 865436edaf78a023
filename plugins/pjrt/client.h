// The client, its devices and their memories: CPU devices of this process or its GPUs, each with one memory, and CPU
// devices of others under JAX's coordinator.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugins/pjrt/errors.h"
#include "plugins/pjrt/rank_pools.h"
#include "plugins/pjrt/target.h"

struct PJRT_DeviceDescription {
  int id = 0;
  int process = 0;
  int local_id = 0;  // among the devices of its process
  std::string text;  // as a user sees it
  std::string kind;
};

struct PJRT_Memory {
  PJRT_Device* device = nullptr;  // null where no client is
  int id = 0;
  std::string text;
};

struct PJRT_Device {
  PJRT_Client* client = nullptr;
  PJRT_DeviceDescription* description = nullptr;  // of the client's topology
  bool is_addressable = true;                     // of this process; others have no memory here
  PJRT_Memory memory;
  PJRT_Memory* memories[1] = {&memory};
  PJRT_Device* self = this;
};

struct PJRT_TopologyDescription {
  // `devices` by process.
  PJRT_TopologyDescription(const std::vector<uint32_t>& devices, const std::string& kind);

  std::vector<std::unique_ptr<PJRT_DeviceDescription>> descriptions;
  std::vector<PJRT_DeviceDescription*> pointers;  // to them
};

struct PJRT_Client {
  // `devices` by process.
  PJRT_Client(const std::vector<uint32_t>& devices, std::shared_ptr<sgd::pjrt::RankPools> ranks);

  PJRT_TopologyDescription topology;
  std::vector<std::unique_ptr<PJRT_Device>> devices;
  std::vector<PJRT_Device*> device_pointers;  // to them
  std::vector<PJRT_Device*> addressable;      // of these, the ones of this process
  std::vector<PJRT_Memory*> memory_pointers;  // of those
  // Programs run one at a time. Guards the memory of programs, and which buffers are in it.
  std::shared_ptr<sgd::pjrt::RankPools> ranks;
};

namespace sgd::pjrt {

inline constexpr std::string_view kPlatform = "sgd";
inline constexpr std::string_view kMemoryKind = "device";

// InvalidArgument for a device of another process.
absl::Status CheckAddressable(const PJRT_Device& device);

// Fills the entries of the API that concern plugin, client, devices, memories and topologies.
void AddClientEntries(PJRT_Api& api);

}  // namespace sgd::pjrt
