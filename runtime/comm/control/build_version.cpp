// Release and hash are CMake's.
#include "runtime/comm/control/build_version.h"

#include "absl/strings/str_cat.h"
#include "runtime/comm/control/build_hash.h"

namespace sgd::comm {

std::string BuildVersion() {
  constexpr size_t kShown = 12;
  return absl::StrCat(SGD_RELEASE, " (build ", std::string(SGD_INTERFACE_HASH, kShown), ")");
}

}  // namespace sgd::comm
