// The end of every command line that CLI11 parses: for sources that sgd_command_line compiles, with exceptions.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/artifact/short_message.h"
#include "runtime/text/nearest_name.h"
#include "tools/command_line/leave.h"

namespace sgd::tools {

// Of messages about wrong usage of `app`, which is named after its tool.
inline Leave WrongUsage(const CLI::App& app, const std::string& what) {
  return {2, app.get_name() + ": " + artifact::ShortMessage(what) + " (see " + app.get_name() + " --help)\n"};
}

// The message about arguments of `app` that it has not: a misspelt flag with the nearest one.
inline std::string UnexpectedArguments(const CLI::App& app, const CLI::ExtrasError& error) {
  const std::vector<std::string> unexpected = app.remaining();
  const bool is_flag = !unexpected.empty() && unexpected.front().starts_with("--");
  if (!is_flag) return error.what();
  const std::string flag = unexpected.front().substr(2, unexpected.front().find('=') - 2);
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
  }
  const std::string_view nearest = text::NearestName(flag, std::vector<std::string_view>(names.begin(), names.end()));
  std::string message = "there is no flag --" + flag;
  if (!nearest.empty()) message += "; did you mean --" + std::string(nearest) + "?";
  return message;
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
  } catch (const CLI::ExtrasError& error) {
    return WrongUsage(app, UnexpectedArguments(app, error));
  } catch (const CLI::ParseError& error) {
    return WrongUsage(app, error.what());
  }
  return std::nullopt;
}

}  // namespace sgd::tools
