// Flags and their texts.
#include "tools/sgd-inspect/options.h"

#include "tools/command_line/help.h"
#include "tools/command_line/parse.h"

namespace sgd::inspect {

constexpr char kAbout[] =
    "Shows what a compiled artifact (.sgda) holds: mesh, memory, programs with their inputs and "
    "outputs, collectives.\n"
    "Without flags it prints a summary. All sizes are bytes, of one rank.";

constexpr char kUsage[] =
    "  sgd-inspect ARTIFACT [--program] [--memory] [--collectives] [--kernels] [--explain] [--json]\n"
    "  sgd-inspect ARTIFACT --check-streams | --module ARCH\n";

constexpr char kExamples[] =
    "Examples:\n"
    "  sgd-inspect step.sgda                            mesh, memory, inputs and outputs\n"
    "  sgd-inspect step.sgda --collectives --explain    what each collective sends, and why\n"
    "  sgd-inspect step.sgda --program --json           every instruction as JSON\n";

std::variant<Options, Leave> ParseOptions(int argc, const char* const* argv) {
  Options options;
  CLI::App app{kAbout, "sgd-inspect"};
  tools::SetHelp(app, kUsage, kExamples);
  app.add_option("artifact", options.path, "The artifact, made by sgdc")->required()->option_text("ARTIFACT");
  app.add_option("--plan", options.plan, "Show one of several plans, as data=4 (default: all)")->option_text("NAME");
  app.add_flag("--json", options.as_json, "Print JSON instead of text");
  app.add_flag("--program", options.parts.program, "Inputs, outputs and every instruction");
  app.add_flag("--memory", options.parts.memory, "Every slice of memory: the values in it and its lifetime");
  app.add_flag("--collectives", options.parts.collectives, "Every collective with its tensors and bytes");
  app.add_flag("--kernels", options.parts.kernels,
               "Every kernel: its launches, split over threads, work, ops and source line");
  app.add_flag("--explain", options.parts.explain, "The reason of each collective");
  app.add_flag("--check-streams", options.instead.check_streams,
               "Check the artifact for data races between concurrent instructions, on a device with streams and on "
               "threads of a host; exit code 3 if there are any")
      ->excludes("--json");
  app.add_option("--module", options.instead.module,
                 "Print the PTX of the kernels for one of the artifact's GPU architectures")
      ->excludes("--json")
      ->excludes("--check-streams")
      ->option_text("ARCH");
  app.add_option("--html", options.instead.html,
                 "Instead: write one HTML file with pictures: timeline, memory, collectives, roofline, shardings")
      ->excludes("--json")
      ->excludes("--check-streams")
      ->excludes("--module")
      ->option_text("FILE");
  app.add_option("--compare", options.instead.compare,
                 "Instead: what another artifact has otherwise: bytes, memory, times, collectives, shardings; with "
                 "--html, in the page")
      ->excludes("--json")
      ->excludes("--check-streams")
      ->excludes("--module")
      ->option_text("OTHER");
  app.add_option("--trace", options.instead.trace,
                 "With --html: a step measured by sgdrun --trace, beside the predicted one")
      ->needs("--html")
      ->option_text("FILE");
  tools::SetGroup(app, "Contents", {"--program", "--memory", "--collectives", "--kernels", "--explain"});
  tools::SetGroup(app, "Selection and format", {"--plan", "--json"});
  tools::SetGroup(app, "Instead of the contents", {"--html", "--compare", "--trace", "--check-streams", "--module"});
  if (std::optional<Leave> leave = tools::Parse(app, SGD_VERSION, argc, argv)) return *leave;
  return options;
}

}  // namespace sgd::inspect
