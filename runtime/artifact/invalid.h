// The error of a file whose contents are not consistent.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace sgd::artifact {

inline absl::Status Invalid(const std::string& what) { return absl::InvalidArgumentError(what); }

}  // namespace sgd::artifact
