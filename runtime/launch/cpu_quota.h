// How much processor time the system lets this process have, whatever its cores: the limit of a
// container.
#pragma once

#include <cstdint>
#include <filesystem>

namespace sgd::launch {

// Processors' worth of time by the control groups of this process (version 1 and 2) and those above
// them, the least of all: 1.5 for 150 ms in every 100 ms. Infinite without a limit, and where
// none can be read. `root` is "/" but for tests.
double CpuQuota(const std::filesystem::path& root = "/");

// The number of threads that a quota is worth, at least 1: half a processor more is worth a thread.
uint32_t CoresOfQuota(double quota);

}  // namespace sgd::launch
