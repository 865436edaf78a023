// Reads /proc/cpuinfo, which already accounts for what hypervisor and kernel have switched off.
#include "targets/cpu/device/cpu_features.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace sgd::cpu {

std::set<std::string> ParseCpuFlags(std::string_view cpuinfo) {
  std::set<std::string> common;
  bool first = true;
  std::istringstream lines{std::string(cpuinfo)};
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(':');
    if (!line.starts_with("flags") || colon == std::string::npos) continue;
    std::istringstream words(line.substr(colon + 1));
    const std::set<std::string> flags{std::istream_iterator<std::string>(words), {}};
    std::set<std::string> both;
    std::set_intersection(common.begin(), common.end(), flags.begin(), flags.end(), std::inserter(both, both.end()));
    common = first ? flags : both;
    first = false;
  }
  return common;
}

absl::StatusOr<std::set<std::string>> CpuFlags() {
  std::ifstream file("/proc/cpuinfo");
  std::stringstream text;
  text << file.rdbuf();
  std::set<std::string> flags = ParseCpuFlags(text.str());
  if (flags.empty())
    return absl::FailedPreconditionError(
        "cannot read this CPU's features; expected a line of flags in /proc/cpuinfo; mount /proc");
  return flags;
}

absl::Status CheckCpu(const artifact::Artifact& root, const std::set<std::string>& flags) {
  std::vector<std::string> missing;
  if (root.cpu_features() != nullptr) {
    for (const flatbuffers::String* feature : *root.cpu_features()) {
      if (!flags.contains(feature->str())) missing.push_back(absl::CEscape(feature->str()));
    }
  }
  if (missing.empty()) return absl::OkStatus();
  const std::string cpu = root.cpu() == nullptr ? "another CPU" : absl::CEscape(root.cpu()->str());
  return absl::FailedPreconditionError(absl::StrCat("compiled for ", cpu, "; this CPU lacks ",
                                                    absl::StrJoin(missing, ", "),
                                                    "; compile here or with --cpu=x86-64-v3"));
}

}  // namespace sgd::cpu
