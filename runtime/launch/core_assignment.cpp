// Reads the topology from sysfs; where it is not there, cores are assigned in the order of their
// numbers.
#include "runtime/launch/core_assignment.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace sgd::launch {
namespace {

int ReadTopology(int core, const char* name) {
  std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(core) + "/topology/" + name);
  int value = 0;
  return file >> value ? value : 0;
}

// The node of each core that a node lists; cores without one are next to node 0.
std::map<int, int> NodesOfCores() {
  std::map<int, int> nodes;
  std::error_code error;
  for (auto at = std::filesystem::directory_iterator("/sys/devices/system/node", error);
       !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    int node = 0;
    if (!absl::StartsWith(name, "node") || !absl::SimpleAtoi(name.substr(4), &node)) continue;
    std::ifstream file(at->path() / "cpulist");
    std::string list;
    std::getline(file, list);
    for (int core : ParseCoreList(list)) nodes[core] = node;
  }
  return nodes;
}

// Part `index` of `parts` nearly equal ones of cores [begin, end).
std::vector<int> PartOf(const std::vector<Core>& cores, size_t begin, size_t end, size_t parts, size_t index) {
  std::vector<int> part;
  const size_t count = end - begin;
  for (size_t i = begin + index * count / parts; i < begin + (index + 1) * count / parts; ++i) {
    part.push_back(cores[i].id);
  }
  return part;
}

struct Node {
  size_t begin, end;  // of its cores
  size_t ranks = 0;
};

std::vector<Node> NodesOf(const std::vector<Core>& cores) {
  std::vector<Node> nodes;
  for (size_t begin = 0, end = 0; begin < cores.size(); begin = end) {
    while (end < cores.size() && cores[end].node == cores[begin].node) ++end;
    nodes.push_back({begin, end});
  }
  return nodes;
}

// Empty when some rank would get fewer cores than an even division of all gives each at least.
std::vector<std::vector<int>> AssignWithinNodes(const std::vector<Core>& cores, uint32_t ranks) {
  const size_t share = cores.size() / ranks;
  std::vector<Node> nodes = NodesOf(cores);
  // Cores of each rank of a node if it took one more; the first of equals.
  const auto with_one_more = [](const Node& node) { return (node.end - node.begin) / (node.ranks + 1); };
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    Node& node = *std::ranges::max_element(nodes, {}, with_one_more);
    if (with_one_more(node) < share) return {};
    ++node.ranks;
  }
  std::vector<std::vector<int>> parts;
  for (const Node& node : nodes) {
    for (size_t i = 0; i < node.ranks; ++i) parts.push_back(PartOf(cores, node.begin, node.end, node.ranks, i));
  }
  return parts;
}

}  // namespace

std::vector<int> ParseCoreList(std::string_view list) {
  std::vector<int> cores;
  for (absl::string_view part :
       absl::StrSplit(absl::string_view(list.data(), list.size()), ',', absl::SkipWhitespace())) {
    const std::pair<absl::string_view, absl::string_view> ends = absl::StrSplit(part, absl::MaxSplits('-', 1));
    int first = 0, last = 0;
    if (!absl::SimpleAtoi(ends.first, &first)) continue;
    if (!absl::SimpleAtoi(ends.second, &last)) last = first;
    for (int core = first; core <= last && core < CPU_SETSIZE; ++core) cores.push_back(core);
  }
  return cores;
}

std::vector<Core> AllowedCores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof(allowed), &allowed);
  const std::map<int, int> nodes = NodesOfCores();
  std::vector<std::tuple<int, int, int, int>> order;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed)) continue;
    const auto node = nodes.find(core);
    order.emplace_back(node == nodes.end() ? 0 : node->second, ReadTopology(core, "physical_package_id"),
                       ReadTopology(core, "core_id"), core);
  }
  std::sort(order.begin(), order.end());
  std::vector<Core> cores;
  for (const auto& [node, package, physical, core] : order) cores.push_back({core, node});
  return cores;
}

std::vector<Core> CoresWithout(std::vector<Core> cores, const std::vector<int>& avoided) {
  std::erase_if(cores, [&](const Core& core) { return std::ranges::find(avoided, core.id) != avoided.end(); });
  return cores;
}

std::vector<std::vector<int>> AssignCores(const std::vector<Core>& cores, uint32_t ranks) {
  if (ranks == 0 || cores.size() < ranks) return {};
  std::vector<std::vector<int>> parts = AssignWithinNodes(cores, ranks);
  if (!parts.empty()) return parts;
  for (size_t rank = 0; rank < ranks; ++rank) parts.push_back(PartOf(cores, 0, cores.size(), ranks, rank));
  return parts;
}

void BindToCores(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int core : cores) CPU_SET(core, &set);
  sched_setaffinity(0, sizeof(set), &set);
}

}  // namespace sgd::launch
