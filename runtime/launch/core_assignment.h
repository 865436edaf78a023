// Which cores each rank of a host gets.
#pragma once

#include <sched.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace sgd::launch {

// A processor as the system numbers them, and the memory node it is next to.
struct Core {
  int id = 0;
  int node = 0;
  bool operator==(const Core&) const = default;
};

// The cores this process may use, those of one memory node next to each other, and so the threads of
// one physical core.
std::vector<Core> AllowedCores();

// The numbers in a list of the system: "0-3,8" is 0, 1, 2, 3, 8. Skips text that is not a number.
std::vector<int> ParseCoreList(std::string_view list);

// `cores` without those of `avoided`, in their order.
std::vector<Core> CoresWithout(std::vector<Core> cores, const std::vector<int>& avoided);

// Disjoint parts of `cores`, one per rank, each contiguous: within one memory node wherever that
// leaves no rank fewer cores than an even division would, else nearly equal. Empty when there are
// fewer cores than ranks.
std::vector<std::vector<int>> AssignCores(const std::vector<Core>& cores, uint32_t ranks);

// Binds the calling thread and what it starts from now on; cores that vanished meanwhile are
// ignored.
void BindToCores(const std::vector<int>& cores);

}  // namespace sgd::launch
