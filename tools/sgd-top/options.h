// The command line of sgd-top as plain data.
#pragma once

#include <string>
#include <variant>

#include "tools/command_line/leave.h"

namespace sgd::top {

struct Options {
  std::string job;
  bool once = false;
  double every = 1;  // seconds
};

using tools::Leave;

// Options to run with, or a text to print and leave.
std::variant<Options, Leave> ParseOptions(int argc, const char* const* argv);

}  // namespace sgd::top
