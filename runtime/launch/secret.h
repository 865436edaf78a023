// The secret that ranks of several hosts share.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace sgd::launch {

// The file's contents without trailing line ends, else the variable SGD_SECRET, else nothing. Never printed.
// InvalidArgument for a file that cannot be read or that others than its owner can read, and for secrets of less than
// 16 or more than 4096 bytes.
absl::StatusOr<std::string> ReadSecret(const std::string& file);

}  // namespace sgd::launch
