// The end of every command line that CLI11 parses: for sources that sgd_command_line compiles, with exceptions.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "tools/command_line/leave.h"

namespace sgd::tools {

// Of messages about wrong usage of `app`, which is named after its tool.
inline Leave WrongUsage(const CLI::App& app, const std::string& what) {
  return {2, app.get_name() + ": " + what + " (see " + app.get_name() + " --help)\n"};
}

// Adds --version and --help and parses. Nothing when the tool is to run.
inline std::optional<Leave> Parse(CLI::App& app, const std::string& version, int argc, const char* const* argv) {
  app.set_version_flag("--version", app.get_name() + " " + version, "Print the version");
  app.set_help_flag("-h,--help", "Print this text");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Leave{0, app.help()};
  } catch (const CLI::CallForVersion& called) {
    return Leave{0, std::string(called.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    return WrongUsage(app, error.what());
  }
  return std::nullopt;
}

}  // namespace sgd::tools
