// Flags and their texts.
#include "tools/sgd-plot/options.h"

#include "runtime/comm/control/build_version.h"
#include "tools/command_line/parse.h"

namespace sgd::plot {

constexpr char kAbout[] =
    "Draws loss and step time of runs of sgdrun as SVG, a curve for each log of --log-json.\n"
    "Dashed lines mark restarts.";

std::variant<Options, Leave> ParseOptions(int argc, const char* const* argv) {
  Options options;
  CLI::App app{kAbout, "sgd-plot"};
  app.add_option("logs", options.logs, "Logs of --log-json")->required()->option_text("LOG.jsonl ...");
  app.add_option("-o,--output", options.output, "The drawing")->required()->option_text("FILE.svg");
  if (std::optional<Leave> leave = tools::Parse(app, comm::BuildVersion(), argc, argv)) return *leave;
  return options;
}

}  // namespace sgd::plot
