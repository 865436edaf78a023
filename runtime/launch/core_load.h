// How busy cores are, by the system's account.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <vector>

namespace sgd::launch {

// Of a core since the system started, in clock ticks.
struct CoreTime {
  uint64_t idle = 0, total = 0;
};

// By the numbers of cores; those that the system does not list are missing. `file` is that but for tests.
std::map<int, CoreTime> ReadCoreTimes(const std::filesystem::path& file = "/proc/stat");

// The cores' worth of time in which `cores` were idle between two readings, up to the number of cores. One that is not
// listed, or whose time has not gone on, counts as idle.
double IdleCores(const std::map<int, CoreTime>& before, const std::map<int, CoreTime>& after,
                 const std::vector<int>& cores);

}  // namespace sgd::launch
