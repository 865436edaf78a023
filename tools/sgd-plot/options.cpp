// Flags and their texts.
#include "tools/sgd-plot/options.h"

#include "runtime/comm/control/build_version.h"
#include "tools/command_line/help.h"
#include "tools/command_line/parse.h"

namespace sgd::plot {

constexpr char kAbout[] =
    "Draws loss and step time of runs of sgdrun as SVG, a curve for each log of --log-json.\n"
    "Dashed lines mark restarts.";

constexpr char kUsage[] = "  sgd-plot LOG.jsonl ... -o FILE.svg\n";

constexpr char kExamples[] =
    "Examples:\n"
    "  sgd-plot log.jsonl -o loss.svg               one run\n"
    "  sgd-plot ddp.jsonl zero3.jsonl -o both.svg   two runs, a curve each\n";

std::variant<Options, Leave> ParseOptions(int argc, const char* const* argv) {
  Options options;
  CLI::App app{kAbout, "sgd-plot"};
  tools::SetHelp(app, kUsage, kExamples);
  app.add_option("logs", options.logs, "Logs of --log-json")->required()->option_text("LOG.jsonl ...");
  app.add_option("-o,--output", options.output, "The drawing to write")->required()->option_text("FILE.svg");
  if (std::optional<Leave> leave = tools::Parse(app, comm::BuildVersion(), argc, argv)) return *leave;
  return options;
}

}  // namespace sgd::plot
