// Reads the topology from sysfs; where it is not there, cores are taken in the order of their
// numbers.
#include "runtime/launch/core_assignment.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <tuple>

namespace sgd::launch {
namespace {

int ReadTopology(int core, const char* name) {
  std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(core) + "/topology/" + name);
  int value = 0;
  return file >> value ? value : 0;
}

}  // namespace

std::vector<int> AllowedCores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof(allowed), &allowed);
  std::vector<std::tuple<int, int, int>> order;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed)) continue;
    order.emplace_back(ReadTopology(core, "physical_package_id"), ReadTopology(core, "core_id"), core);
  }
  std::sort(order.begin(), order.end());
  std::vector<int> cores;
  for (const auto& [package, physical, core] : order) cores.push_back(core);
  return cores;
}

std::vector<std::vector<int>> AssignCores(const std::vector<int>& cores, uint32_t ranks) {
  if (ranks == 0 || cores.size() < ranks) return {};
  std::vector<std::vector<int>> parts;
  for (size_t rank = 0; rank < ranks; ++rank) {
    parts.emplace_back(cores.begin() + rank * cores.size() / ranks, cores.begin() + (rank + 1) * cores.size() / ranks);
  }
  return parts;
}

void BindToCores(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int core : cores) CPU_SET(core, &set);
  sched_setaffinity(0, sizeof(set), &set);
}

}  // namespace sgd::launch
