// Flags and their texts.
#include "tools/sgd-top/options.h"

#include "runtime/comm/control/build_version.h"
#include "tools/command_line/help.h"
#include "tools/command_line/parse.h"

namespace sgd::top {

constexpr char kAbout[] =
    "Shows a training run of sgdrun: steps, times, loss, waits and memory.\n"
    "On a terminal until it is interrupted or the run's port is gone; elsewhere once.";

constexpr char kUsage[] = "  sgd-top JOB [--once] [--every SECONDS]\n";

constexpr char kExamples[] =
    "Examples:\n"
    "  sgd-top log.jsonl         a run with --log-json log.jsonl\n"
    "  sgd-top 9400              a run with --metrics-port 9400 on this host\n";

std::variant<Options, Leave> ParseOptions(int argc, const char* const* argv) {
  Options options;
  CLI::App app{kAbout, "sgd-top"};
  tools::SetHelp(app, kUsage, kExamples);
  app.add_option("job", options.job,
                 "The run: its log (--log-json), its metrics file (--metrics), or its port (--metrics-port)")
      ->required()
      ->option_text("JOB");
  app.add_flag("--once", options.once, "Show the run once");
  app.add_option("--every", options.every, "Seconds between two updates (default 1)")
      ->check(CLI::Range(0.1, 3600.0))
      ->option_text("SECONDS");
  if (std::optional<Leave> leave = tools::Parse(app, comm::BuildVersion(), argc, argv)) return *leave;
  return options;
}

}  // namespace sgd::top
