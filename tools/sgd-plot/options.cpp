// Parsing with CLI11, whose exceptions end here.
#include "tools/sgd-plot/options.h"

#include <CLI/CLI.hpp>

#include "runtime/comm/control/build_version.h"

namespace sgd::plot {

constexpr char kAbout[] =
    "Draws loss and step time of runs of sgdrun as SVG, a curve for each log of --log-json.\n"
    "Dashed lines mark restarts.";

std::variant<Options, Leave> ParseOptions(int argc, const char* const* argv) {
  Options options;
  CLI::App app{kAbout, "sgd-plot"};
  app.add_option("logs", options.logs, "Logs of --log-json")->required()->option_text("LOG.jsonl ...");
  app.add_option("-o,--output", options.output, "The drawing")->required()->option_text("FILE.svg");
  app.set_version_flag("--version", "sgd-plot " + comm::BuildVersion(), "Print the version");
  app.set_help_flag("-h,--help", "Print this text");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Leave{0, app.help()};
  } catch (const CLI::CallForVersion& version) {
    return Leave{0, std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    return Leave{2, std::string("sgd-plot: ") + error.what() + " (see sgd-plot --help)\n"};
  }
  return options;
}

}  // namespace sgd::plot
