// The accelerators of this host as a launcher has to know them: what they are, what is near them, how they are linked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sgd::device {

struct Accelerator {
  std::string name;
  std::string architecture;  // "sm_90"
  std::string bus_id;        // "0000:1b:00.0"; empty where the driver does not say
  uint64_t memory_bytes = 0;
  int memory_node = -1;               // of the host, that is next to it; -1: unknown
  std::string near_cores;             // "0-15,64-79"; empty: unknown
  std::vector<std::string> problems;  // why ranks cannot use it, or not well
};

struct Topology {
  std::vector<Accelerator> accelerators;  // by local rank
  // links[a][b]: how a reaches b's memory, "direct" or "through the host"; empty where a is b.
  std::vector<std::vector<std::string>> links;
};

}  // namespace sgd::device
