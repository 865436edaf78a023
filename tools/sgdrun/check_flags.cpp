#include "tools/sgdrun/check_flags.h"

#include "absl/strings/str_cat.h"

namespace sgd::sgdrun {
namespace {

// In a mode that runs no artifact, refuses flags that it does not read.
std::string CheckWithoutArtifact(const GivenFlags& given, const std::string& mode, const std::set<std::string>& read) {
  for (const std::string& name : given.names)
    if (name != mode && !read.contains(name)) return absl::StrCat(mode, " runs no artifact: leave out ", name);
  return "";
}

std::string CheckRankFlags(const GivenFlags& given) {
  if (given.has("--rank") != given.has("--world-size")) return "--rank and --world-size belong together";
  if (given.has("--nnodes") && given.has("--rank"))
    return "--nnodes starts ranks, --rank says that this process is one: give one of them";
  if (given.has("--spares") && (!given.has("--nnodes") || !given.has("--restarts")))
    return "--spares take the place of hosts (--nnodes) that are lost, and need --restarts";
  if (given.has("--resize") && given.has("--nnodes"))
    return "--resize is for the ranks of one host; with --nnodes stop the job and start it with other flags";
  if (given.has("--node-rank") && !given.has("--nnodes")) return "--node-rank is one of --nnodes, which is missing";
  if (given.has("-n") && given.has("--rank"))
    return "-n starts ranks, --rank says that this process is one: give one of them";
  return "";
}

std::string CheckModeFlags(const GivenFlags& given, const Options& options) {
  if (options.run.mode != train::Mode::kTrain && !given.training.empty())
    return absl::StrCat(given.training.front(), " is for training: say how long with --steps");
  if (options.run.mode == train::Mode::kTrain && given.has("--inputs"))
    return "--inputs is for a single run; training starts from --init";
  if (options.run.mode == train::Mode::kOnce && (given.has("--carry") || given.has("--carry-json")))
    return "--carry needs --steps or --bench";
  if (options.run.mode == train::Mode::kBench && given.has("--outputs")) return "--bench writes no --outputs";
  for (const char* flag : {"--null-kernels", "--profile", "--trace"})
    if (options.run.mode != train::Mode::kBench && given.has(flag)) return absl::StrCat(flag, " is for --bench");
  return "";
}

std::string CheckTrainingFlags(const GivenFlags& given, const Options& options) {
  if (given.has("--carry") && given.has("--carry-json")) return "--carry and --carry-json exclude each other";
  if (given.has("--data") && given.has("--batches")) return "--data and --batches exclude each other";
  if (given.has("--feed") && !given.has("--data") && !given.has("--eval-data"))
    return "--feed says what --data feeds; --data is missing";
  if (given.has("--save-every") && !given.has("--save")) return "--save-every needs --save";
  if (given.has("--keep") && !given.has("--save")) return "--keep needs --save";
  if (given.has("--save-zstd") && !given.has("--save")) return "--save-zstd needs --save";
  if (options.saves_by_cost != given.has("--mtbf"))
    return "--save-every auto and --mtbf HOURS go together: how often ranks fail decides how often to save";
  if (!options.run.keep.best.empty() && !given.has("--eval-every")) return "--keep best=NAME needs --eval-every";
  if (given.has("--min-ranks") && !given.has("--restarts")) return "--min-ranks needs --restarts";
  if (given.has("--peer-copies") && !given.has("--restarts"))
    return "--peer-copies are what --restarts goes on from; --restarts is missing";
  if (given.has("--replace-stragglers") && !given.has("--restarts"))
    return "--replace-stragglers starts ranks again, as often as --restarts says; --restarts is missing";
  return "";
}

std::string CheckGuardFlags(const GivenFlags& given, const Options& options) {
  for (const char* flag : {"--guard-loss", "--guard-grad-norm", "--on-guard"})
    if (given.has(flag) && !given.has("--guard")) return absl::StrCat(flag, " needs --guard");
  if (given.has("--on-verify") && !given.has("--verify")) return "--on-verify needs --verify";
  if (given.has("--verify") && given.has("--fast"))
    return "--verify repeats steps, and with --fast these may vary; leave out one of them";
  if (given.has("--guard") && given.has("--fast"))
    return "--guard repeats steps and compares bits, and with --fast these may vary; leave out one of them";
  if (options.run.guard.skips_steps && given.has("--outputs"))
    return "--on-guard skip and --outputs exclude each other: the last step may be left out";
  if (given.has("--eval-data") && !given.has("--eval-every") && !options.run.only_evaluates)
    return "--eval-data needs --eval-every, or --eval-only";
  return "";
}

// --eval-only runs no step: the first flag of those about steps is refused.
std::string CheckEvalOnly(const GivenFlags& given) {
  for (const char* flag : {"--steps",      "--bench",       "--inputs",   "--outputs",      "--save",
                           "--save-every", "--mtbf",        "--keep",     "--restarts",     "--min-ranks",
                           "--resize",     "--peer-copies", "--data",     "--save-weights", "--batches",
                           "--eval-every", "--print-every", "--live",     "--metrics",      "--metrics-port",
                           "--guard",      "--verify",      "--on-guard", "--on-verify",    "--replace-stragglers"}) {
    if (given.has(flag)) return absl::StrCat("--eval-only runs no step of training: leave out ", flag);
  }
  return "";
}

std::string CheckMeasurement(const GivenFlags& given, const Options& options) {
  if (options.measured_topology.empty()) return "--measure-topology needs the name of a file";
  const std::string fault = CheckWithoutArtifact(
      given, "--measure-topology",
      {"-n", "--threads", "--comm-thread", "--deadline", "--device", "--fast", "--share-gpus", "--rank", "--world-size",
       "--nnodes", "--node-rank", "--master", "--secret-file", "--net-devices", "--rendezvous"});
  if (!fault.empty()) return fault;
  if (given.has("--nnodes") && !given.has("-n"))
    return "--measure-topology on several hosts needs -n, the ranks of each host";
  return CheckRankFlags(given);
}

}  // namespace

std::string CheckFlags(const GivenFlags& given, Options& options) {
  if (given.has("--bench") && given.has("--steps")) return "--bench and --steps exclude each other";
  if (given.has("--measure-topology")) return CheckMeasurement(given, options);
  if (options.shows_topology) return CheckWithoutArtifact(given, "--topology", {"-n", "--device", "--net-devices"});
  if (!given.has("artifact")) return "artifact is required";
  if (options.run.only_evaluates) {
    if (std::string fault = CheckEvalOnly(given); !fault.empty()) return fault;
  }
  options.run.only_prepares = given.has("--steps") && options.run.steps == 0;
  options.run.mode = given.has("--bench")                                 ? train::Mode::kBench
                     : given.has("--steps") || options.run.only_evaluates ? train::Mode::kTrain
                                                                          : train::Mode::kOnce;
  for (const std::string& fault : {CheckModeFlags(given, options), CheckTrainingFlags(given, options),
                                   CheckGuardFlags(given, options), CheckRankFlags(given)})
    if (!fault.empty()) return fault;
  return "";
}

}  // namespace sgd::sgdrun
