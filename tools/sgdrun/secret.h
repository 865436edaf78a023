// The secret that ranks of several hosts share.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace sgd::sgdrun {

// What the file holds, without line ends behind it, else the variable SGD_SECRET, else nothing. Never printed.
// InvalidArgument for a file that cannot be read, is empty or longer than 4096 bytes.
absl::StatusOr<std::string> ReadSecret(const std::string& file);

}  // namespace sgd::sgdrun
