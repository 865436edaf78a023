// The client, its devices and their memories: CPU devices of this process or its GPUs, and CPU devices of others under
// JAX's coordinator. The memories of a device are of the kinds of JAX's CPU backend, and all are where the device is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugins/pjrt/errors.h"
#include "plugins/pjrt/rank_pools.h"
#include "plugins/pjrt/target.h"

namespace sgd::pjrt {
// The first one is the default.
inline constexpr std::array<std::string_view, 3> kMemoryKinds = {"device", "pinned_host", "unpinned_host"};

// The position of a kind; an empty name is the default one. InvalidArgument for an unknown kind.
absl::StatusOr<size_t> MemoryKindNamed(std::string_view name);
}  // namespace sgd::pjrt

struct PJRT_DeviceDescription {
  int id = 0;
  int process = 0;
  int local_id = 0;  // among the devices of its process
  std::string text;  // as a user sees it
  std::string kind;
};

struct PJRT_Memory {
  PJRT_Device* device = nullptr;
  int id = 0;
  size_t kind = 0;  // position in kMemoryKinds
  std::string text;
};

struct PJRT_Device {
  PJRT_Client* client = nullptr;
  PJRT_DeviceDescription* description = nullptr;                     // of the client's topology
  bool is_addressable = true;                                        // of this process; others have no memory here
  std::array<PJRT_Memory, sgd::pjrt::kMemoryKinds.size()> memories;  // by kind
  std::array<PJRT_Memory*, sgd::pjrt::kMemoryKinds.size()> memory_pointers;
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

// InvalidArgument for a device of another process.
absl::Status CheckAddressable(const PJRT_Device& device);

// Fills the entries of the API that concern plugin, client, devices, memories and topologies.
void AddClientEntries(PJRT_Api& api);

}  // namespace sgd::pjrt
