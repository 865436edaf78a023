#include "runtime/watch/places.h"

#include <sched.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace sgd::watch {

std::string HostName() {
  char name[256] = {};
  gethostname(name, sizeof(name) - 1);
  return name;
}

std::string CoresText(const std::vector<int>& cores) {
  return absl::StrCat(cores.size() == 1 ? "core " : "cores ", CoreList(cores));
}

std::string CoresOfThisThread() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  sched_getaffinity(0, sizeof(cpus), &cpus);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &cpus)) cores.push_back(core);
  }
  return CoresText(cores);
}

std::string CoreList(const std::vector<int>& cores) {
  std::vector<std::string> ranges;
  for (size_t begin = 0; begin < cores.size();) {
    size_t end = begin + 1;
    while (end < cores.size() && cores[end] == cores[end - 1] + 1) ++end;
    ranges.push_back(end - begin == 1 ? absl::StrCat(cores[begin]) : absl::StrCat(cores[begin], "-", cores[end - 1]));
    begin = end;
  }
  return absl::StrJoin(ranges, ",");
}

}  // namespace sgd::watch
