// Parsing with CLI11, whose exceptions end here.
#include "tools/sgd-top/options.h"

#include <CLI/CLI.hpp>

#include "runtime/comm/control/build_version.h"

namespace sgd::top {

constexpr char kAbout[] =
    "Shows a training run of sgdrun: steps, times, loss, waits and memory.\n"
    "On a terminal until it is interrupted or the run's port is gone; elsewhere once.";

std::variant<Options, Leave> ParseOptions(int argc, const char* const* argv) {
  Options options;
  CLI::App app{kAbout, "sgd-top"};
  app.add_option("job", options.job,
                 "The run: its log (--log-json), its metrics file (--metrics), or its port (--metrics-port)")
      ->required()
      ->option_text("JOB");
  app.add_flag("--once", options.once, "Show the run once");
  app.add_option("--every", options.every, "Seconds between two looks (default 1)")
      ->check(CLI::Range(0.1, 3600.0))
      ->option_text("SECONDS");
  app.set_version_flag("--version", "sgd-top " + comm::BuildVersion(), "Print the version");
  app.set_help_flag("-h,--help", "Print this text");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Leave{0, app.help()};
  } catch (const CLI::CallForVersion& version) {
    return Leave{0, std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    return Leave{2, std::string("sgd-top: ") + error.what() + " (see sgd-top --help)\n"};
  }
  return options;
}

}  // namespace sgd::top
