// The command line of sgd-top as plain data.
#pragma once

#include <string>
#include <variant>

namespace sgd::top {

struct Options {
  std::string job;
  bool once = false;
  double every = 1;  // seconds
};

// A text to print instead, and the exit code.
struct Leave {
  int exit_code;
  std::string text;
};
std::variant<Options, Leave> ParseOptions(int argc, const char* const* argv);

}  // namespace sgd::top
