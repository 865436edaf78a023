// The kernel knows which file an address is of.
#include "runtime/process/shrunken_files.h"

#include <signal.h>
#include <stdlib.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "runtime/process/leave.h"

namespace sgd::process {
namespace {

int argument_count = 0;
const char* const* arguments = nullptr;

// The path of the file that is mapped at `address`; nothing for memory that has no name in a file system.
std::optional<std::string> FileAt(uintptr_t address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    int path = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %*s %*s %*s %*s %n", &begin, &end, &path) != 2) continue;
    if (address < begin || address >= end) continue;
    std::string_view name = std::string_view(line).substr(static_cast<size_t>(path));
    if (!name.starts_with("/") || name.starts_with("/memfd:") || name.starts_with("/dev/")) return std::nullopt;
    constexpr std::string_view kDeleted = " (deleted)";
    if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
    return std::string(name);
  }
  return std::nullopt;
}

// `path` as an argument of main names it, or the folder that it is in.
std::string AsGiven(const std::string& path) {
  for (int i = 1; i < argument_count; ++i) {
    std::string argument = arguments[i];
    char* const resolved = realpath(argument.c_str(), nullptr);
    if (resolved == nullptr) continue;
    const std::string place = resolved;
    free(resolved);
    if (place == path) return argument;
    if (!path.starts_with(place + "/")) continue;
    if (argument.ends_with("/")) argument.pop_back();
    return argument + path.substr(place.size());
  }
  return path;
}

// On the thread that has touched the page, which holds no lock of the allocator then: this may allocate.
void OnBusError(int, siginfo_t* info, void*) {
  const std::optional<std::string> path = FileAt(reinterpret_cast<uintptr_t>(info->si_addr));
  if (path.has_value()) {
    LeaveAtOnce(absl::DataLossError(
        absl::StrCat(AsGiven(*path),
                     ": was cut short by another program, or its disk failed, while this run had it mapped; "
                     "replace files by renaming new ones over them")));
  }
  signal(SIGBUS, SIG_DFL);  // not of a file: the access is repeated and has its usual end
}

}  // namespace

void LeaveWhenFilesShrink(int argc, const char* const* argv) {
  argument_count = argc;
  arguments = argv;
  struct sigaction action = {};
  action.sa_sigaction = OnBusError;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace sgd::process
