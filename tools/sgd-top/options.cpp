// Flags and their texts.
#include "tools/sgd-top/options.h"

#include "runtime/comm/control/build_version.h"
#include "tools/command_line/parse.h"

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
  if (std::optional<Leave> leave = tools::Parse(app, comm::BuildVersion(), argc, argv)) return *leave;
  return options;
}

}  // namespace sgd::top
