// How a tool leaves that has nothing to run.
#pragma once

#include <string>

namespace sgd::tools {

struct Leave {
  int exit_code;     // 0 for --help and --version, 2 for wrong usage
  std::string text;  // for standard output when exit_code is 0, else for standard error; ends with a line end
};

}  // namespace sgd::tools
