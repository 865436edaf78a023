// One gathering among the ranks of each host.
#include "runtime/launch/local_ranks.h"

#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace sgd::launch {
namespace {

// The message, before the names of interfaces.
struct Record {
  cpu_set_t cpus;
  uint32_t core_limit;
  uint32_t has_segment;
  char drawn[16];
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

absl::StatusOr<LocalRanks> FindLocalRanks(comm::Control& control, const LocalClaim& claim, absl::Duration timeout) {
  Record mine = {};
  if (sched_getaffinity(0, sizeof(mine.cpus), &mine.cpus) != 0) CPU_SET(0, &mine.cpus);
  mine.core_limit = claim.core_limit;
  mine.has_segment = claim.has_segment;
  if (getrandom(mine.drawn, sizeof(mine.drawn), 0) != static_cast<ssize_t>(sizeof(mine.drawn)))
    return absl::InternalError("getrandom failed");
  const std::string bytes =
      std::string(reinterpret_cast<const char*>(&mine), sizeof(mine)) + absl::StrJoin(claim.interfaces, ",");
  const auto told = control.GatherAmong(NameOfHost(), bytes, timeout);
  if (!told.ok()) return told.status();
  LocalRanks result;
  cpu_set_t any = {};
  uint32_t core_limit = claim.core_limit;
  for (const comm::Control::Told& rank : *told) {
    Record theirs;
    if (rank.bytes.size() < sizeof(theirs)) return absl::InternalError("a rank said something else of its host");
    std::memcpy(&theirs, rank.bytes.data(), sizeof(theirs));
    if (rank.rank == control.rank()) result.own = static_cast<uint32_t>(result.ranks.size());
    result.ranks.push_back(rank.rank);
    result.masks.push_back(theirs.cpus);
    if (theirs.has_segment == 0) {
      if (result.alone.empty())
        result.name = absl::BytesToHexString(absl::string_view(theirs.drawn, sizeof(theirs.drawn)));
      result.alone.push_back(rank.rank);
    }
    for (absl::string_view name : absl::StrSplit(rank.bytes.substr(sizeof(theirs)), ',', absl::SkipEmpty()))
      result.interfaces.emplace_back(name);
    CPU_OR(&any, &any, &theirs.cpus);
    core_limit = std::min(core_limit, theirs.core_limit);
  }
  result.cores = std::clamp<uint32_t>(static_cast<uint32_t>(CPU_COUNT(&any)), 1, std::max(1u, core_limit));
  return result;
}

}  // namespace sgd::launch
