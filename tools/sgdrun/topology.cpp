// Asks the target's module and the system; starts nothing.
#include "tools/sgdrun/topology.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/comm/hosts/transport.h"
#include "runtime/device/target_plugin.h"
#include "runtime/launch/core_assignment.h"
#include "runtime/launch/near_cores.h"
#include "runtime/text/amounts.h"
#include "runtime/watch/places.h"

namespace sgd::sgdrun {
namespace {

namespace fs = std::filesystem;

using watch::CoreList;

std::string CoresText() {
  std::map<int, std::vector<int>> by_node;
  for (const launch::Core& core : launch::AllowedCores()) by_node[core.node].push_back(core.id);
  std::string text;
  for (auto& [node, cores] : by_node) {
    std::ranges::sort(cores);
    absl::StrAppend(&text, "memory node ", node, ": cores ", CoreList(cores), "\n");
  }
  return text;
}

// Cards that have a device behind them, with its memory node: RDMA ones, else Ethernet.
std::string NetworkText() {
  std::string text;
  for (const char* kind : {"infiniband", "net"}) {
    std::error_code error;
    std::vector<std::string> lines;
    for (fs::directory_iterator at(absl::StrCat("/sys/class/", kind), error), end; !error && at != end;
         at.increment(error)) {
      if (!fs::exists(at->path() / "device", error)) continue;
      int node = -1;
      std::ifstream(at->path() / "device" / "numa_node") >> node;
      lines.push_back(absl::StrCat("network card ", at->path().filename().string(), " (", kind, "): memory node ",
                                   node < 0 ? "unknown" : absl::StrCat(node), "\n"));
    }
    std::ranges::sort(lines);
    absl::StrAppend(&text, absl::StrJoin(lines, ""));
    if (!text.empty()) return text;
  }
  return "network cards: none that the system shows\n";
}

// The transport of CPU ranks on several hosts.
std::string TransportText(const std::string& net_devices) {
  absl::StatusOr<const comm::TransportPlugin*> plugin = comm::OpenTransportPlugin();
  if (!plugin.ok()) return absl::StrCat("between hosts: nothing: ", plugin.status().message(), "\n");
  absl::StatusOr<std::unique_ptr<comm::Transport>> transport = (*plugin)->Open({.net_devices = net_devices});
  if (!transport.ok()) return absl::StrCat("between hosts: nothing: ", transport.status().message(), "\n");
  return absl::StrCat("between hosts: ", (*transport)->version(), ": ", (*transport)->devices(), "\n");
}

std::string DevicesText(const device::Topology& topology) {
  std::string text;
  for (size_t i = 0; i < topology.accelerators.size(); ++i) {
    const device::Accelerator& device = topology.accelerators[i];
    absl::StrAppend(&text, "GPU ", i, ": ", device.name, ", ", device.architecture, ", ",
                    text::BytesText(device.memory_bytes), ", PCI ", device.bus_id.empty() ? "unknown" : device.bus_id,
                    ", memory node ", device.memory_node < 0 ? "unknown" : absl::StrCat(device.memory_node), ", cores ",
                    device.near_cores.empty() ? "unknown" : device.near_cores, "\n");
    for (const std::string& problem : device.problems) absl::StrAppend(&text, "  note: ", problem, "\n");
    std::map<std::string, std::vector<int>> linked;
    for (size_t other = 0; other < topology.links[i].size(); ++other) {
      if (!topology.links[i][other].empty()) linked[topology.links[i][other]].push_back(static_cast<int>(other));
    }
    for (const auto& [how, others] : linked) absl::StrAppend(&text, "  ", how, ": GPU ", CoreList(others), "\n");
  }
  return text;
}

// As RankDevice binds them.
std::string RanksText(const device::Topology& topology, uint32_t ranks) {
  const size_t count = topology.accelerators.size();
  std::vector<launch::RankPlace> places;
  for (uint32_t rank = 0; rank < ranks; ++rank)
    places.push_back(launch::PlaceOfThisProcess(topology.accelerators[rank % count].near_cores));
  std::string text;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    absl::StrAppend(&text, "local rank ", rank, ": GPU ", rank % count, ", cores ",
                    CoreList(launch::ShareOfNearCores(places, rank)), rank < count ? "" : " (only with --share-gpus)",
                    "\n");
  }
  return text;
}

}  // namespace

absl::StatusOr<std::string> TopologyText(const Options& options) {
  std::string text = CoresText();
  device::Topology topology;
  if (options.run.device != "cpu") {
    absl::StatusOr<const device::TargetPlugin*> module = device::OpenTargetPlugin("cuda");
    absl::StatusOr<device::Topology> described =
        module.ok() ? (*module)->Describe() : absl::StatusOr<device::Topology>(module.status());
    if (described.ok()) {
      topology = *std::move(described);
    } else if (!options.run.device.empty()) {
      return described.status();
    } else {
      absl::StrAppend(&text, "GPUs: none: ", described.status().message(), "\n");
    }
  }
  absl::StrAppend(&text, DevicesText(topology), NetworkText(), TransportText(options.net_devices));
  const uint32_t given = options.rank_flags.ranks.value_or(static_cast<uint32_t>(topology.accelerators.size()));
  if (!topology.accelerators.empty()) absl::StrAppend(&text, RanksText(topology, given));
  return text;
}

}  // namespace sgd::sgdrun
