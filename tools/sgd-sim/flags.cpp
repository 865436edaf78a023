// Parsing with CLI11, whose exceptions end here.
#include "tools/sgd-sim/flags.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>

#include "llvm/Support/FormatVariadic.h"
#include "tools/command_line/parse.h"

namespace mlir::sgd {

constexpr char kAbout[] =
    "Simulates a step of a compiled artifact on a machine that need not be there: time, waits for collectives and "
    "between stages, memory, failures.\n"
    "Times follow from the plan that would run, and from the topology's figures.";

constexpr char kExamples[] =
    "Examples:\n"
    "  sgd-sim step.sgda --topology h100                                 a step on hosts of eight H100\n"
    "  sgd-sim step.sgda --topology h100 --svg step.svg                  its timeline\n"
    "  sgd-sim step.sgda --topology h100 --sweep data=1..1024            what more ranks gain, a batch for each\n"
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

std::optional<int> readFlags(int argc, char** argv, Flags& flags) {
  CLI::App app{kAbout, "sgd-sim"};
  app.footer(kExamples);
  app.add_option("artifact", flags.artifact, "The artifact, made by sgdc")->option_text("ARTIFACT");
  app.add_option("--model", flags.model,
                 "Instead of an artifact: a transformer by numbers, which is compiled (docs/simulation.md)")
      ->option_text("FILE.json");
  app.add_option("--target", flags.target,
                 "With --model: what it is compiled for, as sgdc's --target (default: the topology's devices)");
  app.add_option("--write-text", flags.text, "With --model: write its step as StableHLO, and simulate nothing")
      ->option_text("FILE.mlir");
  app.add_option("--save", flags.save, "With --model: also keep the compiled artifact, which can be simulated again")
      ->option_text("ARTIFACT");
  app.add_option("--topology", flags.topology,
                 "Name or file of the machine (docs/topologies.md; default: that of the artifact, or of --target)")
      ->option_text("NAME|FILE");
  app.add_option("--mesh", flags.mesh,
                 "Other sizes for axes of its mesh, e.g. data=64: each rank computes what it computes, so that the "
                 "batch grows with its axis")
      ->option_text("AXIS=SIZE,...");
  app.add_option("--plan", flags.plan, "Which of several plans of the artifact, as data=4 (sgd-inspect lists them)")
      ->option_text("NAME");
  app.add_option("--program", flags.program, "Which of several programs (default train, or main)");
  app.add_option("--json", flags.json, "Write the estimate as JSON; - is standard output")->option_text("FILE");
  app.add_option("--svg", flags.svg, "Draw the step's timeline, or with --sweep the curve")->option_text("FILE");
  app.add_option("--sweep", flags.sweep, "Powers of two of an axis, and its ends: a line for each")
      ->option_text("AXIS=FROM..TO");
  app.add_option("--failures", flags.failureHours,
                 "Mean hours between failures of a rank: says the best interval of checkpoints, and what is left")
      ->option_text("HOURS")
      ->check(isWithin(1e-6, 1e12));
  app.add_option("--save-seconds", flags.saveSeconds,
                 "That a checkpoint stops the run (default: the state over the topology's storage)")
      ->check(isWithin(0, 1e12));
  app.add_option("--restart-seconds", flags.restartSeconds, "From a failure until the run goes on (default 120)")
      ->check(isWithin(0, 1e12));
  app.add_option("--epoch-steps", flags.epochSteps, "Steps of an epoch: says its device hours and price")
      ->check(isWithin(0, 1e15));
  app.add_option("--price", flags.pricePerHour,
                 "Of an hour of a device, in any currency, for the price of an epoch (default: the topology's)")
      ->check(isWithin(0, 1e12));
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
