// sgdc --doctor: the features of sgdc and sgdrun that this machine can use, and what to install or change for the
// others.
#pragma once

#include <ostream>

namespace sgd::tools {

// Prints a line for each feature. Returns the exit code: 0 unless this machine cannot run ranks on its CPUs.
int Doctor(std::ostream& out);

}  // namespace sgd::tools
