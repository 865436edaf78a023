// Features of this machine's CPU, by the names of /proc/cpuinfo.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/artifact/program_generated.h"

namespace sgd::cpu {

// The flags that the system reports for every one of its CPUs ("avx2", "fma", ...); it leaves out
// what it does not enable.
absl::StatusOr<std::set<std::string>> CpuFlags();

// The same from the text of /proc/cpuinfo.
std::set<std::string> ParseCpuFlags(std::string_view cpuinfo);

// FailedPrecondition naming the missing features unless `flags` holds all that the artifact's
// kernels need.
absl::Status CheckCpu(const artifact::Artifact& root, const std::set<std::string>& flags);

}  // namespace sgd::cpu
