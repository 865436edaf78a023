// Parsing with CLI11, whose exceptions end here.
#include "tools/sgd-inspect/options.h"

#include <CLI/CLI.hpp>

namespace sgd::inspect {

constexpr char kAbout[] =
    "Shows what a compiled artifact (.sgda) holds: mesh, memory, programs with their inputs and "
    "outputs, collectives.\n"
    "Without flags a summary. All sizes are bytes, of one rank.";

std::variant<Options, Leave> ParseOptions(int argc, const char* const* argv) {
  Options options;
  CLI::App app{kAbout, "sgd-inspect"};
  app.add_option("artifact", options.path, "The artifact, made by sgdc")->required()->option_text("ARTIFACT");
  app.add_option("--plan", options.plan, "One of several plans, as data=4 (default: all)")->option_text("NAME");
  app.add_flag("--json", options.as_json, "JSON instead of text");
  app.add_flag("--program", options.parts.program, "Inputs, outputs and every instruction");
  app.add_flag("--memory", options.parts.memory, "Every slice of memory: the values in it and its lifetime");
  app.add_flag("--collectives", options.parts.collectives, "Every collective with its tensors and bytes");
  app.add_flag("--kernels", options.parts.kernels,
               "Every kernel: its launches, split over threads, work, ops and source line");
  app.add_flag("--explain", options.parts.explain, "The reason of each collective");
  app.add_flag("--check-streams", options.instead.check_streams,
               "Instead: check the artifact for data races between concurrent instructions, on a device with streams "
               "and on a "
               "host's threads; exit code 3 when there are any")
      ->excludes("--json");
  app.add_option("--module", options.instead.module,
                 "Instead: print the PTX of the kernels for one of the artifact's GPU architectures")
      ->excludes("--json")
      ->excludes("--check-streams")
      ->option_text("ARCH");
  app.set_version_flag("--version", std::string("sgd-inspect ") + SGD_VERSION, "Print the version");
  app.set_help_flag("-h,--help", "Print this text");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Leave{0, app.help()};
  } catch (const CLI::CallForVersion& version) {
    return Leave{0, std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    return Leave{2, std::string("sgd-inspect: ") + error.what() + " (see sgd-inspect --help)\n"};
  }
  return options;
}

}  // namespace sgd::inspect
