#include "runtime/measure/topology_file.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

namespace sgd::measure {
namespace {

using Json = nlohmann::ordered_json;

// Of the rate of matmuls, for CPUs: the rates that compiled kernels were measured at, which no library's kernel shows.
constexpr double kVectorPart = 1.0 / 4, kDivisionPart = 1.0 / 16, kTranscendentalPart = 1.0 / 50;

// A link of the file, and the part of its port's bandwidth that a rank was seen to have.
struct Link {
  std::string name;
  uint32_t ranks = 0;      // that it joins; 0: all
  uint32_t shared_by = 1;  // ranks
  LinkRates rates;
};

std::vector<Link> LinksOf(const MeasuredTopology& measured) {
  const bool is_gpu = measured.kind.is_gpu();
  const HostLayout& layout = measured.links.layout;
  std::vector<Link> links;
  if (layout.ranks_per_host > 1 || layout.hosts == 1)
    links.push_back({.name = is_gpu ? "gpus of a host" : "shared memory", .rates = measured.links.inside});
  if (layout.hosts > 1) {
    if (!links.empty()) links.back().ranks = layout.ranks_per_host;
    links.push_back(
        {.name = "network", .shared_by = is_gpu ? 1 : layout.ranks_per_host, .rates = measured.links.between});
  }
  return links;
}

// Four digits: more are noise.
double Rounded(double number) {
  double rounded = 0;
  return absl::SimpleAtod(absl::StrFormat("%.4g", number), &rounded) ? rounded : number;
}

Json LinkJson(const Link& link, bool is_gpu) {
  Json json;
  json["name"] = link.name;
  json["ranks"] = link.ranks;
  json["latency"] = Rounded(link.rates.latency);
  json["bandwidth"] = Rounded(link.rates.bandwidth * link.shared_by);
  json["algorithms"] = is_gpu ? Json{"ring", "tree"} : Json{"direct"};
  if (link.shared_by > 1) json["shared_by"] = link.shared_by;
  return json;
}

}  // namespace

double RoundsOf(bool is_gpu, uint32_t ranks) {
  if (!is_gpu) return 2;
  return std::min(2.0 * (ranks - 1), 2.0 * std::ceil(std::log2(ranks)));
}

std::string TopologyJson(const MeasuredTopology& measured) {
  const bool is_gpu = measured.kind.is_gpu();
  Json device;
  device["flops"] = Rounded(measured.device.flops);
  device["half_flops"] = Rounded(measured.device.half_flops);
  if (!is_gpu) {
    device["vector_flops"] = Rounded(measured.device.flops * kVectorPart);
    device["divisions"] = Rounded(measured.device.flops * kDivisionPart);
    device["transcendentals"] = Rounded(measured.device.flops * kTranscendentalPart);
    if (measured.device.packed_elements > 0) device["packed_elements"] = Rounded(measured.device.packed_elements);
  }
  device["memory_bandwidth"] = Rounded(measured.device.memory_bandwidth);
  if (measured.device.cache_bytes > 0) {
    device["cache_bytes"] = measured.device.cache_bytes;
    device["cache_bandwidth"] = Rounded(measured.device.cache_bandwidth);
  }
  device["launch_latency"] = Rounded(measured.device.launch_latency);
  device["memory_bytes"] = measured.kind.memory_bytes;
  if (is_gpu) device["architecture"] = measured.kind.architecture;
  if (!is_gpu) device["host_bandwidth"] = 0;
  Json json;
  json["name"] = "measured";
  json["device"] = std::move(device);
  json["links"] = Json::array();
  for (const Link& link : LinksOf(measured)) json["links"].push_back(LinkJson(link, is_gpu));
  return absl::StrCat(json.dump(2), "\n");
}

std::string TopologyTable(const MeasuredTopology& measured) {
  const DeviceRates& device = measured.device;
  std::string text =
      absl::StrFormat("device: %.4g GFLOP/s of f32, %.4g of bf16, %.4g GB/s of memory, %.3g us a launch, %.4g GB\n",
                      device.flops / 1e9, device.half_flops / 1e9, device.memory_bandwidth / 1e9,
                      device.launch_latency * 1e6, static_cast<double>(measured.kind.memory_bytes) / 1e9);
  for (const Link& link : LinksOf(measured)) {
    const std::string joined = link.ranks == 0 ? "all ranks" : absl::StrCat(link.ranks, " ranks of a host");
    const std::string shared =
        link.shared_by == 1 ? "" : absl::StrCat(", of a port that ", link.shared_by, " ranks share");
    absl::StrAppendFormat(&text, "%s, %s: %.4g us a round, %.4g GB/s of a rank%s\n", link.name, joined,
                          link.rates.latency * 1e6, link.rates.bandwidth / 1e9, shared);
  }
  return text;
}

}  // namespace sgd::measure
