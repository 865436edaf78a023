// Lines "cpu3 USER NICE SYSTEM IDLE IOWAIT ..." of /proc/stat.
#include "runtime/launch/core_load.h"

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace sgd::launch {

std::map<int, CoreTime> ReadCoreTimes(const std::filesystem::path& file) {
  constexpr int kIdle = 3, kIoWait = 4, kFields = 8;  // what follows is counted in the first ones as well
  std::map<int, CoreTime> times;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    int core = 0, read = 0;
    // The first line is the sum of all.
    if (line.starts_with("cpu ") || std::sscanf(line.c_str(), "cpu%d%n", &core, &read) != 1) continue;
    std::istringstream numbers(line.substr(static_cast<size_t>(read)));
    CoreTime& time = times[core];
    uint64_t ticks = 0;
    for (int field = 0; field < kFields && numbers >> ticks; ++field) {
      time.total += ticks;
      if (field == kIdle || field == kIoWait) time.idle += ticks;
    }
  }
  return times;
}

double IdleCores(const std::map<int, CoreTime>& before, const std::map<int, CoreTime>& after,
                 const std::vector<int>& cores) {
  double idle = 0;
  for (const int core : cores) {
    const auto first = before.find(core), last = after.find(core);
    const bool is_known = first != before.end() && last != after.end() && last->second.total > first->second.total;
    idle += is_known ? static_cast<double>(last->second.idle - first->second.idle) /
                           static_cast<double>(last->second.total - first->second.total)
                     : 1;
  }
  return idle;
}

}  // namespace sgd::launch
