// Where this process runs, for messages.
#pragma once

#include <string>
#include <vector>

namespace sgd::watch {

std::string HostName();

// "core 3" or "cores 0-3,8".
std::string CoresText(const std::vector<int>& cores);
// Those that the calling thread may run on.
std::string CoresOfThisThread();

// "0-3,8" for 0, 1, 2, 3, 8.
std::string CoreList(const std::vector<int>& cores);

}  // namespace sgd::watch
