// One gathering of records of one size.
#include "runtime/launch/local_ranks.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"

namespace sgd::launch {
namespace {

struct Record {
  char host[200];
  cpu_set_t cpus;
  uint32_t core_limit;
};

std::string NameOfHost() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  char name[65] = {};
  gethostname(name, sizeof(name) - 1);
  struct stat network = {};
  if (stat("/proc/self/ns/net", &network) != 0) network.st_ino = 0;
  return absl::StrCat(boot, " ", name, " ", network.st_ino);
}

}  // namespace

absl::StatusOr<LocalRanks> FindLocalRanks(comm::Control& control, uint32_t core_limit, absl::Duration timeout) {
  Record mine = {};
  NameOfHost().copy(mine.host, sizeof(mine.host) - 1);
  if (sched_getaffinity(0, sizeof(mine.cpus), &mine.cpus) != 0) CPU_SET(0, &mine.cpus);
  mine.core_limit = core_limit;
  absl::StatusOr<std::vector<std::string>> all =
      control.AllGatherBytes({reinterpret_cast<const char*>(&mine), sizeof(mine)}, timeout);
  if (!all.ok()) return all.status();
  LocalRanks result;
  cpu_set_t any = {};
  for (uint32_t rank = 0; rank < all->size(); ++rank) {
    Record theirs;
    if ((*all)[rank].size() != sizeof(theirs)) return absl::InternalError("a rank said something else of its host");
    std::memcpy(&theirs, (*all)[rank].data(), sizeof(theirs));
    if (std::memcmp(theirs.host, mine.host, sizeof(mine.host)) != 0) continue;
    if (rank == control.rank()) result.own = static_cast<uint32_t>(result.ranks.size());
    result.ranks.push_back(rank);
    result.masks.push_back(theirs.cpus);
    CPU_OR(&any, &any, &theirs.cpus);
    core_limit = std::min(core_limit, theirs.core_limit);
  }
  result.cores = std::clamp<uint32_t>(static_cast<uint32_t>(CPU_COUNT(&any)), 1, std::max(1u, core_limit));
  return result;
}

}  // namespace sgd::launch
