// The version of this build, which the ranks of a job must have in common.
#pragma once

#include <string>

namespace sgd::comm {

// "0.1.0 (build 1a2b3c4d5e6f)": the release, and a hash of the runtime's sources, since ranks of two states of these
// may misunderstand each other.
std::string BuildVersion();

}  // namespace sgd::comm
