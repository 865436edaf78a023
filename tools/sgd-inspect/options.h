// The command line of sgd-inspect as plain data.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "tools/command_line/leave.h"
#include "tools/sgd-inspect/parts.h"

namespace sgd::inspect {

// Outputs that replace a description.
struct Instead {
  bool check_streams = false;
  std::string module;   // architecture; empty: not asked for
  std::string html;     // file of the page; empty: not asked for
  std::string compare;  // another artifact; empty: not asked for
  std::string trace;    // file, for the page
};

struct Options {
  std::string path;
  std::optional<std::string> plan;
  Parts parts;
  bool as_json = false;
  Instead instead;
};

using tools::Leave;

// Options to run with, or a text to print and leave.
std::variant<Options, Leave> ParseOptions(int argc, const char* const* argv);

}  // namespace sgd::inspect
