// Small artifacts that hold every kind of operation in several forms between them, for tests that change artifacts.
#pragma once

#include <string>
#include <vector>

namespace sgd::testing {

struct VariedArtifact {
  const char* name;
  std::string bytes;
};

// Valid ones, for 1 and 2 ranks. They compute nothing of interest.
std::vector<VariedArtifact> VariedArtifacts();

}  // namespace sgd::testing
