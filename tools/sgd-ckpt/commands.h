// The commands of sgd-ckpt; each returns its text.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "tools/sgd-ckpt/options.h"

namespace sgd::ckpt {

struct Result {
  std::string text;  // for standard output
  int exit_code = 0;
};

// Errors are one line and begin with the path at fault. What is written appears at once and complete, or not at all.
absl::StatusOr<Result> Run(const Options& options);

}  // namespace sgd::ckpt
