// The command line of sgd-plot as plain data.
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace sgd::plot {

struct Options {
  std::vector<std::string> logs;
  std::string output;
};

// A text to print instead, and the exit code.
struct Leave {
  int exit_code;
  std::string text;
};
std::variant<Options, Leave> ParseOptions(int argc, const char* const* argv);

}  // namespace sgd::plot
