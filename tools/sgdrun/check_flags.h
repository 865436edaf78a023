// Which flags go together.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tools/sgdrun/options.h"

namespace sgd::sgdrun {

struct GivenFlags {
  std::set<std::string> names;        // "--steps"; "artifact"
  std::vector<std::string> training;  // those of `names` that have a meaning in training only

  bool has(const std::string& name) const { return names.contains(name); }
};

// Sets the mode of `options`. Returns the error in the combination of flags; empty if there is none.
std::string CheckFlags(const GivenFlags& given, Options& options);

}  // namespace sgd::sgdrun
