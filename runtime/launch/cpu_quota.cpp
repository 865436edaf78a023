// Reads /proc/self/cgroup for the groups and sysfs for their limits. In a container the path may be
// that of the host, of which only the last folders exist here, or none: every folder above is asked
// too, as limits above count anyway.
#include "runtime/launch/cpu_quota.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace sgd::launch {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// Limit and period in microseconds; "max" and -1 are no limit.
double Ratio(const std::string& limit, const std::string& period) {
  double allowed = 0, of = 0;
  if (!absl::SimpleAtod(limit, &allowed) || !absl::SimpleAtod(period, &of) || allowed <= 0 || of <= 0) return kNoLimit;
  return allowed / of;
}

std::string Word(std::istream& stream) {
  std::string word;
  stream >> word;
  return word;
}

// Of one group's folder, in either version's form.
double QuotaOfFolder(const std::filesystem::path& folder) {
  std::ifstream both(folder / "cpu.max");
  const std::string limit = Word(both);
  if (!limit.empty()) return Ratio(limit, Word(both));
  std::ifstream quota(folder / "cpu.cfs_quota_us"), period(folder / "cpu.cfs_period_us");
  return Ratio(Word(quota), Word(period));
}

// The least of the folder `base`/`group` and those above it up to `base`.
double QuotaUpwards(const std::filesystem::path& base, const std::filesystem::path& group) {
  double quota = QuotaOfFolder(base);
  std::filesystem::path folder = base;
  for (const std::filesystem::path& part : group.relative_path()) {
    folder /= part;
    quota = std::min(quota, QuotaOfFolder(folder));
  }
  return quota;
}

}  // namespace

double CpuQuota(const std::filesystem::path& root) {
  const std::filesystem::path mounts = root / "sys/fs/cgroup";
  std::ifstream groups(root / "proc/self/cgroup");
  double quota = kNoLimit;
  // "0::/group" in version 2, "4:cpu,cpuacct:/group" in version 1.
  for (std::string line; std::getline(groups, line);) {
    const std::vector<std::string> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3) continue;
    if (fields[1].empty()) {
      quota = std::min({quota, QuotaUpwards(mounts, fields[2]), QuotaUpwards(mounts / "unified", fields[2])});
      continue;
    }
    const std::vector<std::string> controllers = absl::StrSplit(fields[1], ',');
    if (std::ranges::find(controllers, "cpu") == controllers.end()) continue;
    quota = std::min({quota, QuotaUpwards(mounts / "cpu", fields[2]), QuotaUpwards(mounts / fields[1], fields[2])});
  }
  return quota;
}

uint32_t CoresOfQuota(double quota) {
  if (quota >= static_cast<double>(std::numeric_limits<int32_t>::max())) return std::numeric_limits<int32_t>::max();
  return static_cast<uint32_t>(std::max(1L, std::lround(quota)));
}

}  // namespace sgd::launch
