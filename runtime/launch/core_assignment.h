// Which cores each rank of a host gets.
#pragma once

#include <sched.h>

#include <cstdint>
#include <vector>

namespace sgd::launch {

// The cores this process may use, threads of one physical core next to each other, packages one
// after the other.
std::vector<int> AllowedCores();

// Disjoint, contiguous, nearly equal parts of `cores`, one per rank; empty when there are fewer
// cores than ranks.
std::vector<std::vector<int>> AssignCores(const std::vector<int>& cores, uint32_t ranks);

// Binds the calling thread and what it starts from now on; cores that vanished meanwhile are
// ignored.
void BindToCores(const std::vector<int>& cores);

}  // namespace sgd::launch
