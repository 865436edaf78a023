// Parsing with CLI11, whose exceptions end here.
#include "tools/sgd-sim/flags.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>

#include "llvm/Support/FormatVariadic.h"
#include "tools/command_line/help.h"
#include "tools/command_line/parse.h"

namespace mlir::sgd {

constexpr char kAbout[] =
    "Simulates a step of a compiled artifact on any machine: time, exposed communication, pipeline bubble, memory, "
    "failures.";

constexpr char kUsage[] =
    "  sgd-sim ARTIFACT [--topology NAME|FILE] [--mesh AXIS=SIZE,...] [--sweep AXIS=FROM..TO] ...\n"
    "  sgd-sim --model FILE.json [--topology NAME|FILE] [--save ARTIFACT | --write-text FILE.mlir] ...\n";

constexpr char kExamples[] =
    "Examples:\n"
    "  sgd-sim step.sgda --topology h100                                 a step on hosts of eight H100\n"
    "  sgd-sim step.sgda --topology h100 --svg step.svg                  its timeline\n"
    "  sgd-sim step.sgda --topology h100 --sweep data=1..1024            scaling to more ranks\n"
    "  sgd-sim step.sgda --topology h100 --mesh data=512 --failures 50000\n"
    "  sgd-sim --model gpt.json --topology a100                          a language model by its sizes\n";

/// CLI11's own checks of ranges accept values of which estimates are infinite, and name the largest double.
static CLI::Validator isWithin(double least, double most) {
  auto check = [=](const std::string& text) -> std::string {
    char* end = nullptr;
    double number = std::strtod(text.c_str(), &end);
    if (end != text.c_str() && *end == '\0' && number >= least && number <= most) return "";
    return llvm::formatv("'{0}' is out of range; expected a number from {1} to {2}", text, least, most);
  };
  return CLI::Validator(check, "");
}

/// The exit code.
static int print(const ::sgd::tools::Leave& leave) {
  (leave.exit_code == 0 ? std::cout : std::cerr) << leave.text;
  return leave.exit_code;
}

std::optional<int> readSimulationFlags(int argc, char** argv, SimulationFlags& flags) {
  CLI::App app{kAbout, "sgd-sim"};
  ::sgd::tools::SetHelp(app, kUsage, kExamples);
  app.add_option("artifact", flags.artifact, "The artifact, made by sgdc")->option_text("ARTIFACT");
  app.add_option("--model", flags.model,
                 "Instead of an artifact: sizes of a transformer, which is compiled (docs/simulation.md)")
      ->option_text("FILE.json");
  app.add_option("--target", flags.target,
                 "With --model: target of the compilation, as sgdc's --target (default: the topology's devices)")
      ->option_text("TARGET");
  app.add_option("--write-text", flags.text, "With --model: write its step as StableHLO, and simulate nothing")
      ->option_text("FILE.mlir");
  app.add_option("--save", flags.save, "With --model: also write the compiled artifact, which can be simulated again")
      ->option_text("ARTIFACT");
  app.add_option(
         "--topology", flags.topology,
         "Name or file of the machine (docs/topologies.md; default: the topology of the artifact, or of --target)")
      ->option_text("NAME|FILE");
  app.add_option(
         "--mesh", flags.mesh,
         "Other sizes of axes, e.g. data=64: the work of a rank stays the same, so the batch grows with its axis")
      ->option_text("AXIS=SIZE,...");
  app.add_option("--plan", flags.plan, "Plan of the artifact, as data=4 (sgd-inspect lists them)")->option_text("NAME");
  app.add_option("--program", flags.program, "Program of the artifact (default: train, else main)")
      ->option_text("NAME");
  app.add_option("--json", flags.json, "Write the estimate as JSON; - is standard output")->option_text("FILE");
  app.add_option("--svg", flags.svg, "Draw the step's timeline, or with --sweep the curve")->option_text("FILE");
  app.add_option(
         "--sweep", flags.sweep,
         "Simulate other sizes of an axis: prints one line for each power of two in the range, and for its ends")
      ->option_text("AXIS=FROM..TO");
  app.add_option("--failures", flags.failureHours,
                 "Mean hours between failures of a rank: prints the best interval of checkpoints, and the goodput")
      ->option_text("HOURS")
      ->check(isWithin(1e-6, 1e12));
  app.add_option("--save-seconds", flags.saveSeconds,
                 "Seconds of a checkpoint (default: size of the state divided by the storage's bandwidth)")
      ->option_text("SECONDS")
      ->check(isWithin(0, 1e12));
  app.add_option("--restart-seconds", flags.restartSeconds,
                 "Seconds from a failure until the run continues (default 120)")
      ->option_text("SECONDS")
      ->check(isWithin(0, 1e12));
  app.add_option("--epoch-steps", flags.epochSteps, "Steps of an epoch: prints its device hours and price")
      ->option_text("STEPS")
      ->check(isWithin(0, 1e15));
  app.add_option("--price", flags.pricePerHour,
                 "Price of an hour of a device, in any currency, for the price of an epoch (default: the topology's)")
      ->option_text("PRICE")
      ->check(isWithin(0, 1e12));
  using ::sgd::tools::SetGroup;
  SetGroup(app, "Model by numbers", {"--model", "--target", "--write-text", "--save"});
  SetGroup(app, "Machine and program", {"--topology", "--mesh", "--plan", "--program", "--sweep"});
  SetGroup(app, "Results", {"--json", "--svg"});
  SetGroup(app, "Failures and price",
           {"--failures", "--save-seconds", "--restart-seconds", "--epoch-steps", "--price"});
  if (std::optional<::sgd::tools::Leave> leave = ::sgd::tools::Parse(app, SGD_VERSION, argc, argv))
    return print(*leave);
  const char* fault = nullptr;
  if (flags.artifact.empty() == flags.model.empty()) fault = "expected an artifact, or --model";
  if (!flags.model.empty() && !flags.plan.empty()) fault = "--plan is for an artifact";
  if (flags.model.empty() && !(flags.target + flags.text + flags.save).empty())
    fault = "--target, --write-text and --save are for --model";
  bool isSimulated = flags.failureHours > 0 || flags.epochSteps > 0 ||
                     !(flags.save + flags.mesh + flags.json + flags.svg + flags.sweep).empty();
  if (!flags.text.empty() && isSimulated)
    fault = "--write-text simulates nothing; expected it without flags about a simulation; leave them out";
  if (!fault) return std::nullopt;
  return print(::sgd::tools::WrongUsage(app, fault));
}

}  // namespace mlir::sgd
