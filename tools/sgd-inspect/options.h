// The command line of sgd-inspect as plain data.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "tools/sgd-inspect/parts.h"

namespace sgd::inspect {

// What is printed instead of a description.
struct Instead {
  bool check_streams = false;
  std::string module;  // architecture; empty: not asked for
};

struct Options {
  std::string path;
  std::optional<std::string> plan;
  Parts parts;
  bool as_json = false;
  Instead instead;
};

// What to do with a command line: options to run with, or a text to print and leave.
struct Leave {
  int exit_code;     // 0 for --help and --version, 2 for wrong usage
  std::string text;  // for standard output when exit_code is 0, else for standard error; ends with a line end
};
std::variant<Options, Leave> ParseOptions(int argc, const char* const* argv);

}  // namespace sgd::inspect
