// Parsing with CLI11, whose exceptions end here, and the rules about which flags go together.
#include "tools/sgdrun/options.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <algorithm>
#include <limits>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/comm/control/build_version.h"
#include "tools/command_line/parse.h"

namespace sgd::sgdrun {
namespace {

absl::Duration Positive(const char* flag, double seconds) {
  // Also keeps out what is not a number.
  if (!(seconds > 0 && seconds <= 1e9)) throw CLI::ValidationError(flag, "is out of range; expected 0 to 1e9 seconds");
  return absl::Seconds(seconds);
}

// Counts of steps: sums of a few of them fit in 64 bits.
constexpr uint64_t kMostSteps = uint64_t{1} << 53;

// CLI11's own check of positive numbers names the largest double in its message.
template <typename Number>
std::string CheckCount(const std::string& text) {
  constexpr uint64_t kMost = std::min<uint64_t>(std::numeric_limits<Number>::max(), kMostSteps);
  Number count = 0;
  if (absl::SimpleAtoi(text, &count) && count > 0 && count <= kMost) return "";
  return absl::StrCat("'", text, "' is out of range; expected an integer from 1 to ", kMost);
}

// Of --steps, where 0 prepares a run and does none.
std::string CheckSteps(const std::string& text) { return text == "0" ? "" : CheckCount<uint64_t>(text); }

std::string CheckLimit(const std::string& text) {
  double limit = 0;
  if (absl::SimpleAtod(text, &limit) && limit > 0 && limit <= std::numeric_limits<double>::max()) return "";
  return absl::StrCat("'", text, "' is out of range; expected a positive number");
}

constexpr char kAbout[] =
    "Runs a compiled artifact (.sgda) on its ranks: once, as a training loop, or as a benchmark.\n"
    "Tensors are global in safetensors files; inputs are named arg0, arg1, ... or by the model's "
    "own names.";

constexpr char kFirstGroup[] = "Run once";

constexpr char kUsage[] = R"(
Usage:
  sgdrun [-n RANKS] ARTIFACT --inputs FILE --outputs FILE
  sgdrun [-n RANKS] ARTIFACT --steps K [--init FILE] [--data FILE | --batches FILE] [--save DIR] [--log-json FILE] ...
  sgdrun [-n RANKS] ARTIFACT --bench K [--inputs FILE]
  sgdrun [-n RANKS] --topology
  sgdrun [-n RANKS] --measure-topology FILE
)";

constexpr char kExamples[] = R"(Examples:
  once      sgdrun -n 4 step.sgda --inputs in.safetensors --outputs out.safetensors
  train     sgdrun -n 4 mlp.sgda --init state.safetensors --data train.safetensors --feed x=images,y=labels \
              --steps 1000 --seed 1 --log-json log.jsonl --save checkpoints --save-every 100
  resume    sgdrun -n 2 mlp2.sgda --resume checkpoints --data train.safetensors --feed x=images,y=labels --steps 1000
  survive   sgdrun -n 4 mlp.sgda --steps 1000 --data train.safetensors --save checkpoints --restarts 10
  check     sgdrun -n 4 mlp.sgda --init state.safetensors --data train.safetensors --steps 0
  evaluate  sgdrun mlp.sgda --resume checkpoints --eval-only --eval-data heldout.safetensors
  benchmark sgdrun -n 4 step.sgda --bench 50
  cluster   srun -n 4 sgdrun step.sgda ...    (also torchrun, mpirun: the launcher's environment decides)
  hosts     sgdrun -n 8 --nnodes 2 --node-rank 0 --master host0:29500 --secret-file secret step.sgda ...

Exit codes: 0 done; 1 the input, the environment or a rank is at fault; 2 wrong usage; 75 stopped between two steps
of training by SIGTERM, SIGINT or SIGUSR1: go on with --resume. A second signal before the state is saved ends the run at once
with 1.
)";

// CLI11's layout with our usage lines and without its doubled blank lines.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override { return kUsage; }
  // Without what a flag alone stands for.
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    const std::string name = CLI::Formatter::make_option_name(option, is_positional);
    return name.substr(0, name.find('{'));
  }
  std::string make_positionals(const CLI::App*) const override { return ""; }
  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    const std::string text = CLI::Formatter::make_group(group, is_positional, options);
    return group == kFirstGroup ? text : text.substr(1);
  }
};

// A group of the help text, for flags that are added one after another.
class Group {
 public:
  Group(CLI::App& app, const char* name) : app_(app), name_(name) {}

  // `value` says what follows the flag. `target` is where it goes, or what is called with it.
  template <typename Target>
  CLI::Option* Add(const char* flag, const char* value, Target&& target, const char* help) const {
    return app_.add_option(flag, target, help)->group(name_)->option_text(value);
  }
  template <typename Value>
  CLI::Option* Call(const char* flag, const char* value, std::function<void(const Value&)> function,
                    const char* help) const {
    return app_.add_option_function<Value>(flag, std::move(function), help)->group(name_)->option_text(value);
  }
  void AddSwitch(const char* flag, bool& target, const char* help) const {
    app_.add_flag(flag, target, help)->group(name_);
  }

 private:
  CLI::App& app_;
  const char* name_;
};

void AddOnceFlags(CLI::App& app, Options& options) {
  const Group group(app, kFirstGroup);
  group.Add("--inputs", "FILE", options.run.inputs, "Tensors for the program's inputs");
  group.Add("--outputs", "FILE", options.run.outputs,
            "Where outputs go, named result0, result1, ... (training: the last step's)");
  group
      .Call<std::string>(
          "--output-names", "NAMES",
          [&](const std::string& names) { options.run.use_model_output_names = names == "model"; },
          "'result' (default) or 'model' for the model's own output names")
      ->check(CLI::IsMember({"result", "model"}));
  group.Add("--program", "NAME", options.run.program, "Program of the artifact to run (default: main, else train)");
}

// "x=images": an input and the tensor that feeds it.
void AddFeed(Options& options, const std::string& pair) {
  const size_t equal = pair.find('=');
  if (equal == 0 || equal == std::string::npos || equal + 1 == pair.size()) {
    throw CLI::ValidationError("--feed", "'" + pair + "' is no pair; expected INPUT=TENSOR, as in x=images");
  }
  options.run.feed.emplace_back(pair.substr(0, equal), pair.substr(equal + 1));
}

// "last=3,every=1000,best=accuracy".
checkpoint::KeepPolicy ParseKeep(const std::vector<std::string>& parts) {
  checkpoint::KeepPolicy policy;
  for (const std::string& part : parts) {
    const size_t equal = std::min(part.find('='), part.size());
    const std::string name = part.substr(0, equal), value = part.substr(std::min(equal + 1, part.size()));
    uint64_t count = 0;
    const bool is_count = absl::SimpleAtoi(value, &count) && count > 0;
    if (name == "last" && is_count) {
      policy.last = count;
    } else if (name == "every" && is_count) {
      policy.every = count;
    } else if (name == "best" && !value.empty()) {
      policy.best = value;
    } else {
      throw CLI::ValidationError("--keep", "'" + part +
                                               "' is not understood; expected last=K or every=K with a K of 1 or more, "
                                               "as in last=3, or best=NAME");
    }
  }
  return policy;
}

// A number of steps, or "auto".
void TakeSaveEvery(Options& options, const std::string& text) {
  if (text == "auto") {
    options.saves_by_cost = true;
    return;
  }
  const std::string fault = CheckCount<uint64_t>(text);
  if (!fault.empty()) throw CLI::ValidationError("--save-every", fault + ", or auto");
  static_cast<void>(absl::SimpleAtoi(text, &options.run.save_every));
}

std::string CheckZstdLevel(const std::string& text) {
  int level = 0;
  const bool is_level =
      absl::SimpleAtoi(text, &level) && level >= checkpoint::kLeastZstdLevel && level <= checkpoint::kMostZstdLevel;
  return is_level ? ""
                  : absl::StrCat("'", text, "' is no level of zstd; expected an integer from ",
                                 checkpoint::kLeastZstdLevel, " to ", checkpoint::kMostZstdLevel);
}

void AddTrainFlags(CLI::App& app, Options& options) {
  const Group state(app, "Train: state");
  state
      .Add("--steps", "K", options.run.steps,
           "Train for K steps (after --resume: K further ones); 0: prepare and check everything, and write nothing")
      ->check(CheckSteps);
  state.Add("--init", "FILE", options.run.init,
            "Initial state and inputs that never change, a file or the index of several (*.index.json; default: the "
            "program 'init')");
  state.Add(
      "--resume", "DIR", options.run.resume,
      "Resume from a checkpoint or the newest one in a folder, saved on any number of ranks (none yet in the folder of "
      "--save: start anew)");
  state.Add("--save", "DIR", options.run.save, "Save checkpoints into DIR at the end, and with --save-every before");
  state.Call<std::string>(
      "--save-every", "S", [&](const std::string& text) { TakeSaveEvery(options, text); },
      "Steps between checkpoints; auto: as --mtbf and the measured cost of a save say");
  state.Call<double>(
      "--mtbf", "HOURS", [&](double hours) { options.run.mtbf = Positive("--mtbf", hours * 3600); },
      "For --save-every auto: mean time between failures of one rank");
  state
      .Call<std::vector<std::string>>(
          "--keep", "last=K,every=K,best=NAME",
          [&](const std::vector<std::string>& parts) { options.run.keep = ParseKeep(parts); },
          "Which checkpoints stay once a newer one is complete: the K newest, those after a multiple of K steps, that "
          "with the best result of the evaluation (default: all)")
      ->delimiter(',')
      ->expected(1, -1)
      ->allow_extra_args(false);
  app.add_flag("--save-zstd{1}", options.run.save_zstd,
               "Compress checkpoints by zstd, at a level from 1 (default) to 19; any part of a file can still be read "
               "alone")
      ->group("Train: state")
      ->option_text("[=LEVEL]")
      ->check(CheckZstdLevel);
  state
      .Add("--restarts", "R", options.run.restarts,
           "When a rank or host is lost, start the ranks of all hosts again and go on, up to R times, with the same "
           "bits")
      ->check(CheckCount<uint64_t>);
  app.add_flag(
         "--replace-stragglers{1000}", options.run.replace_every,
         "With --restarts: start a rank again on other cores if it holds up the others for long by its computing, "
         "at most once in N steps (default 1000); counts as a restart (docs/watching.md)")
      ->group("Train: state")
      ->option_text("[=N]")
      ->check(CheckCount<uint64_t>);
  state
      .Add("--peer-copies", "K", options.run.peer_copies,
           "With --restarts: copy the state in memory, and what one host holds alone to the next one, every K steps "
           "(default: every step up to 64 MiB of state, every second up to 128 MiB, ...)")
      ->check(CheckCount<uint64_t>);
  state
      .Add("--min-ranks", "M", options.min_ranks,
           "When --restarts are used up, go on with fewer ranks, at least M, by another plan of the artifact")
      ->check(CheckCount<uint32_t>);
  state.Add("--resize", "FILE", options.run.resize,
            "On SIGHUP, go on with as many ranks as FILE says, by another plan of the artifact");
  state.Add("--save-weights", "FILE", options.run.save_weights,
            "At the end, write parameters and buffers alone, under all of their names in the model");
  state.Add("--carry", "OUT:IN,...", options.run.carry,
            "Outputs that become inputs of the next step; overrides the artifact's pairs; none:IN keeps an input, none "
            "keeps all");
  state.Add("--carry-json", "FILE", options.run.carry_json,
            "--carry as a JSON list of [output, input]; a null output keeps the input, an empty list keeps all");

  const Group data(app, "Train: data");
  data.Add(
          "--data", "FILE,...", options.run.data,
          "Rows to draw batches from, in an order that does not depend on the number of ranks: files, folders or globs "
          "of .safetensors, .npy and .npz, or the description of a data set, *.json (docs/data.md)")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  data.Call<std::vector<std::string>>(
          "--feed", "INPUT=TENSOR,...",
          [&](const std::vector<std::string>& pairs) {
            for (const std::string& pair : pairs) AddFeed(options, pair);
          },
          "Which tensor of the data feeds which input (default: equal names)")
      ->delimiter(',')
      ->expected(1, -1)
      ->allow_extra_args(false);
  data.Add("--batches", "FILE", options.run.batches,
           "Batches, one per step: tensors stepK.argN or stepK.<name>, cycled");
  data.Call<uint64_t>(
      "--seed", "S", [&](uint64_t seed) { options.run.seed = seed; },
      "Seed of shuffling and of the key of the program 'init' (default 0)");

  const Group reports(app, "Train: reports");
  reports.Add("--loss", "OUT", options.run.loss, "Output that is the loss (default: the one that sgdc recorded)");
  reports.Add("--log-json", "FILE", options.log_json,
              "Write one JSON line per step into a new file; with --resume, append to it");
  reports
      .Add("--print-every", "K", options.print_every,
           "Print a line every K steps when standard output is not a terminal (default 1)")
      ->check(CheckCount<uint64_t>);
  reports.AddSwitch(
      "--live", options.live,
      "Show times, rates, loss, waits and memory in a block that stays in place; where standard output is "
      "no terminal, in the lines of --print-every");
  reports.Add("--metrics", "FILE", options.metrics,
              "Keep the state of the run in FILE for Prometheus and sgd-top, replaced every other second "
              "(docs/watching.md)");
  reports.Add("--metrics-port", "PORT", options.metrics_port, "The same over HTTP, on this host's loopback interface")
      ->check(CLI::Range(1, 65535));
  reports.Add("--eval-every", "E", options.run.eval_every, "Run the program 'eval' every E steps")
      ->check(CheckCount<uint64_t>);
  reports
      .Add("--eval-data", "FILE,...", options.run.eval_data,
           "Rows for 'eval', named as for --data; its scalar outputs are those of all rows, or means over batches "
           "(docs/training.md)")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  reports.AddSwitch("--eval-only", options.run.only_evaluates,
                    "Instead of --steps: evaluate the state of --resume or the weights of --init on --eval-data");
}

void AddGuardFlags(CLI::App& app, Options& options) {
  train::GuardOptions& guard = options.run.guard;
  const Group group(app, "Train: guard");
  app.add_flag("--guard{100}", guard.every,
               "Every K steps (default 100), check that replicas of the state are equal, that no bytes changed between "
               "steps and that values are finite; name the rank, tensor and source line at fault (docs/guards.md)")
      ->group("Train: guard")
      ->option_text("[=K]")
      ->check(CheckCount<uint64_t>);
  group
      .Add("--guard-loss", "FACTOR", guard.loss_factor,
           "With --guard: the most that a loss may be of its running median")
      ->check(CheckLimit);
  group
      .Add("--guard-grad-norm", "LIMIT", guard.gradient_norm,
           "With --guard: the largest that the program's output grad_norm may be")
      ->check(CheckLimit);
  group
      .Call<std::string>(
          "--on-guard", "ACTION", [&](const std::string& action) { guard.skips_steps = action == "skip"; },
          "What to do with a step that is at fault by its data: stop (default), or skip: go back to the last check and "
          "leave it out")
      ->check(CLI::IsMember({"stop", "skip"}));
  group
      .Add("--verify", "K", options.run.verify.steps,
           "Compare the first K steps with one rank, by the artifact's plan for one rank; name the tensor, instruction "
           "and source line that differ by more than rounding (docs/verify.md)")
      ->check(CheckCount<uint64_t>);
  group
      .Call<std::string>(
          "--on-verify", "ACTION", [&](const std::string& action) { options.run.verify.only_notes = action == "note"; },
          "What to do when a step differs from one rank: stop (default), or note it and go on")
      ->check(CLI::IsMember({"stop", "note"}));
}

void AddOtherFlags(CLI::App& app, Options& options) {
  const Group bench(app, "Benchmark");
  bench.Add("--bench", "K", options.run.bench_steps, "Time K steps on --inputs or random inputs; prints one JSON line")
      ->check(CheckCount<uint64_t>);
  bench.AddSwitch("--null-kernels", options.run.null_kernels,
                  "Run the plan without kernels, to measure the runtime's own overhead");
  bench.Add("--profile", "FILE", options.profile,
            "Write the minimum time of every instruction of rank 0, of a pipeline of the first rank of each stage, one "
            "JSON line each; the ten most expensive are a table on standard error");
  bench.Add("--trace", "FILE", options.trace,
            "Write the last step of rank 0, of a pipeline of the first rank of each stage, as a timeline for "
            "chrome://tracing or Perfetto");

  const Group ranks(app, "Ranks");
  launch::RankFlags& flags = options.rank_flags;
  ranks
      .Add("-n", "RANKS", flags.ranks,
           "Start RANKS ranks on this host (default: the launcher's environment, else the mesh); of several plans the "
           "one "
           "for that many ranks runs")
      ->check(CheckCount<uint32_t>);
  ranks.Add(
      "--plan", "NAME", options.plan.name,
      "Plan of the artifact to run, as data=4 (sgd-inspect lists them); needed where several are for as many ranks");
  ranks.Add("--threads", "T", options.threads, "Compute threads per rank (default: cores divided by ranks)")
      ->check(CheckCount<uint32_t>);
  ranks
      .Call<std::string>(
          "--comm-thread", "WHEN",
          [&](const std::string& when) {
            options.comm_thread = when == "on"    ? launch::CommThread::kOn
                                  : when == "off" ? launch::CommThread::kOff
                                                  : launch::CommThread::kAuto;
          },
          "on, off or auto (default): run collectives on a thread of their own, beside compute; auto: if every rank "
          "has "
          "a spare core")
      ->check(CLI::IsMember({"on", "off", "auto"}));
  ranks.Call<double>(
      "--deadline", "SECONDS", [&](double seconds) { options.run.deadline = Positive("--deadline", seconds); },
      "Longest wait for another rank, and longest time of computing without finishing any part of an instruction, "
      "before the run fails (default 300)");
  ranks.Call<double>(
      "--step-limit", "SECONDS", [&](double seconds) { options.run.step_limit = Positive("--step-limit", seconds); },
      "Longest duration of a step, checked in each iteration of a loop: ends loops that never end and names them "
      "(default: none; after --deadline a note names the loop that such a step is in)");
  ranks.Add("--device", "DEVICE", options.run.device, "cpu or cuda (default: what the artifact was compiled for)")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  ranks.AddSwitch("--tune", options.run.tune,
                  "Autotune a GPU's matmuls and convolutions at the start, and save the choices beside the artifact");
  ranks.AddSwitch("--fast", options.run.fast,
                  "Let switches between GPUs reduce (NVLink SHARP): faster, but the order may vary between runs");
  ranks.AddSwitch("--share-gpus", options.run.shares_gpus,
                  "Let ranks share GPUs when there are fewer GPUs than ranks; for tests");
  ranks.AddSwitch("--eager", options.run.eager,
                  "On GPUs, launch and await every instruction by itself instead of CUDA graphs, so that errors name "
                  "the instruction");
  ranks.Add(
      "--flight-recorder", "FILE", options.flight_recorder,
      "When the run fails, write the last seconds of all ranks on this host as a timeline for chrome://tracing or "
      "Perfetto; for ranks that sgdrun starts itself");
  ranks.Add("--rank", "R", flags.rank, "This process is one rank of a job that was started by hand");
  ranks.Add("--world-size", "N", flags.world_size, "Number of ranks of that job")->check(CheckCount<uint32_t>);
  ranks.Add("--nnodes", "N", flags.nodes, "Number of hosts; each starts the same number of ranks")
      ->check(CheckCount<uint32_t>);
  ranks.Add("--node-rank", "R", flags.node_rank, "Number of this host, from 0; of spares from --nnodes on");
  ranks
      .Add("--spares", "S", flags.spares,
           "With --restarts: S further hosts run sgdrun, wait, and take the place of a host that is lost; give it on "
           "all "
           "hosts")
      ->check(CheckCount<uint32_t>);
  ranks.Add(
      "--master", "HOST:PORT", flags.master,
      "Address of rank 0, for ranks on several hosts (or SGD_MASTER); with --restarts also HOST:PORT,HOST:PORT,..., "
      "where the launchers of other hosts may be when host 0 is lost");
  ranks.Add("--secret-file", "FILE", options.secret_file,
            "File with the secret that ranks on several hosts authenticate by (or SGD_SECRET)");
  ranks.Add("--net-devices", "NAMES", options.net_devices,
            "Network devices that CPU ranks on several hosts may use, as eth0 or mlx5_0:1,mlx5_1:1 (default: all; "
            "--topology lists them)");
  ranks.Add("--rendezvous", "NAME", flags.rendezvous, "Name that the ranks of that job share, unique on this host");
}

// The flags of a mode that runs no artifact: what it would not look at is refused. The error, or nothing.
std::string CheckWithoutArtifact(const CLI::App& app, const std::string& mode, const std::set<std::string>& taken) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (option->count() > 0 && name != mode && !taken.contains(name))
      return absl::StrCat(mode, " runs no artifact: leave out ", name);
  }
  return "";
}

std::string CheckRankFlags(const CLI::App& app) {
  auto given = [&](const char* flag) { return app.count(flag) > 0; };
  if (given("--rank") != given("--world-size")) return "--rank and --world-size belong together";
  if (given("--nnodes") && given("--rank"))
    return "--nnodes starts ranks, --rank says that this process is one: give one of them";
  if (given("--spares") && (!given("--nnodes") || !given("--restarts")))
    return "--spares take the place of hosts (--nnodes) that are lost, and need --restarts";
  if (given("--resize") && given("--nnodes"))
    return "--resize is for the ranks of one host; with --nnodes stop the job and start it with other flags";
  if (given("--node-rank") && !given("--nnodes")) return "--node-rank is one of --nnodes, which is missing";
  if (given("-n") && given("--rank")) return "-n starts ranks, --rank says that this process is one: give one of them";
  return "";
}

// The first flag of those about steps, which --eval-only does none of; empty when there is none.
std::string CheckEvalOnly(const CLI::App& app) {
  for (const char* flag : {"--steps",      "--bench",       "--inputs",   "--outputs",      "--save",
                           "--save-every", "--mtbf",        "--keep",     "--restarts",     "--min-ranks",
                           "--resize",     "--peer-copies", "--data",     "--save-weights", "--batches",
                           "--eval-every", "--print-every", "--live",     "--metrics",      "--metrics-port",
                           "--guard",      "--verify",      "--on-guard", "--on-verify",    "--replace-stragglers"}) {
    if (app.count(flag) > 0) return absl::StrCat("--eval-only runs no step of training: leave out ", flag);
  }
  return "";
}

// The error in the combination of flags; empty when there is none.
std::string CheckCombination(const CLI::App& app, Options& options) {
  auto given = [&](const char* flag) { return app.count(flag) > 0; };
  if (given("--bench") && given("--steps")) return "--bench and --steps exclude each other";
  if (given("--measure-topology")) {
    if (options.measured_topology.empty()) return "--measure-topology needs the name of a file";
    const std::string fault = CheckWithoutArtifact(
        app, "--measure-topology",
        {"-n", "--threads", "--comm-thread", "--deadline", "--device", "--fast", "--share-gpus", "--rank",
         "--world-size", "--nnodes", "--node-rank", "--master", "--secret-file", "--net-devices", "--rendezvous"});
    if (!fault.empty()) return fault;
    if (given("--nnodes") && !given("-n"))
      return "--measure-topology on several hosts needs -n, the ranks of each host";
    return CheckRankFlags(app);
  }
  if (options.shows_topology) return CheckWithoutArtifact(app, "--topology", {"-n", "--device", "--net-devices"});
  if (!given("artifact")) return "artifact is required";
  if (options.run.only_evaluates) {
    if (std::string fault = CheckEvalOnly(app); !fault.empty()) return fault;
  }
  options.run.only_prepares = given("--steps") && options.run.steps == 0;
  options.run.mode = given("--bench")                                 ? train::Mode::kBench
                     : given("--steps") || options.run.only_evaluates ? train::Mode::kTrain
                                                                      : train::Mode::kOnce;
  if (options.run.mode != train::Mode::kTrain) {
    for (const char* flag : {"--init",         "--resume",
                             "--save",         "--save-every",
                             "--mtbf",         "--keep",
                             "--save-zstd",    "--restarts",
                             "--min-ranks",    "--resize",
                             "--peer-copies",  "--save-weights",
                             "--data",         "--feed",
                             "--batches",      "--loss",
                             "--log-json",     "--print-every",
                             "--live",         "--metrics",
                             "--metrics-port", "--eval-every",
                             "--eval-data",    "--guard",
                             "--guard-loss",   "--guard-grad-norm",
                             "--on-guard",     "--verify",
                             "--on-verify",    "--replace-stragglers"}) {
      if (given(flag)) return absl::StrCat(flag, " is for training: say how long with --steps");
    }
  }
  if (options.run.mode == train::Mode::kTrain && given("--inputs"))
    return "--inputs is for a single run; training starts from --init";
  if (options.run.mode == train::Mode::kOnce && (given("--carry") || given("--carry-json")))
    return "--carry needs --steps or --bench";
  if (options.run.mode == train::Mode::kBench && given("--outputs")) return "--bench writes no --outputs";
  for (const char* flag : {"--null-kernels", "--profile", "--trace"}) {
    if (options.run.mode != train::Mode::kBench && given(flag)) return absl::StrCat(flag, " is for --bench");
  }
  if (given("--carry") && given("--carry-json")) return "--carry and --carry-json exclude each other";
  if (given("--data") && given("--batches")) return "--data and --batches exclude each other";
  if (given("--feed") && !given("--data") && !given("--eval-data"))
    return "--feed says what --data feeds; --data is missing";
  if (given("--save-every") && !given("--save")) return "--save-every needs --save";
  if (given("--keep") && !given("--save")) return "--keep needs --save";
  if (given("--save-zstd") && !given("--save")) return "--save-zstd needs --save";
  if (options.saves_by_cost != given("--mtbf"))
    return "--save-every auto and --mtbf HOURS go together: how often ranks fail decides how often to save";
  if (!options.run.keep.best.empty() && !given("--eval-every")) return "--keep best=NAME needs --eval-every";
  if (given("--min-ranks") && !given("--restarts")) return "--min-ranks needs --restarts";
  if (given("--peer-copies") && !given("--restarts"))
    return "--peer-copies are what --restarts goes on from; --restarts is missing";
  if (given("--replace-stragglers") && !given("--restarts"))
    return "--replace-stragglers starts ranks again, as often as --restarts says; --restarts is missing";
  for (const char* flag : {"--guard-loss", "--guard-grad-norm", "--on-guard"}) {
    if (given(flag) && !given("--guard")) return absl::StrCat(flag, " needs --guard");
  }
  if (given("--on-verify") && !given("--verify")) return "--on-verify needs --verify";
  if (given("--verify") && given("--fast"))
    return "--verify repeats steps, and with --fast these may vary; leave out one of them";
  if (given("--guard") && given("--fast"))
    return "--guard repeats steps and compares bits, and with --fast these may vary; leave out one of them";
  if (options.run.guard.skips_steps && given("--outputs"))
    return "--on-guard skip and --outputs exclude each other: the last step may be left out";
  if (given("--eval-data") && !given("--eval-every") && !options.run.only_evaluates)
    return "--eval-data needs --eval-every, or --eval-only";
  return CheckRankFlags(app);
}

}  // namespace

std::variant<Options, Leave> ParseOptions(int argc, const char* const* argv) {
  Options options;
  CLI::App app{kAbout, "sgdrun"};
  app.formatter(std::make_shared<HelpFormatter>());
  app.get_formatter()->column_width(30);
  app.footer(kExamples);
  app.add_option("artifact", options.run.artifact, "The compiled model, made by sgdc")->option_text("ARTIFACT");
  AddOnceFlags(app, options);
  AddTrainFlags(app, options);
  AddGuardFlags(app, options);
  AddOtherFlags(app, options);
  const char* other = "Other";
  app.add_flag("--topology", options.shows_topology,
               "Print this host's cores, GPUs, links and network cards, and which rank gets what")
      ->group(other);
  app.add_option("--measure-topology", options.measured_topology,
                 "Measure what the ranks' devices and the links between them reach, and write a topology file for "
                 "sgdc and sgd-sim (docs/topologies.md)")
      ->option_text("FILE")
      ->group(other);
  app.option_defaults()->group(other);
  if (std::optional<tools::Leave> leave = tools::Parse(app, comm::BuildVersion(), argc, argv)) return *leave;
  options.run.times_instructions = !options.profile.empty() || !options.trace.empty();
  std::string fault = CheckCombination(app, options);
  if (!fault.empty()) return tools::WrongUsage(app, fault);
  return options;
}

}  // namespace sgd::sgdrun
