// The command line of sgd-plot as plain data.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "tools/command_line/leave.h"

namespace sgd::plot {

struct Options {
  std::vector<std::string> logs;
  std::string output;
};

using tools::Leave;

// Options to run with, or a text to print and leave.
std::variant<Options, Leave> ParseOptions(int argc, const char* const* argv);

}  // namespace sgd::plot
