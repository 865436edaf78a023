// Parsing with CLI11, whose exceptions end here, and the rules about which flags go together.
#include "tools/sgdrun/options.h"

#include <CLI/CLI.hpp>
#include <functional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace sgd::sgdrun {
namespace {

absl::Duration Positive(const char* flag, double seconds) {
  // Also keeps out what is not a number.
  if (!(seconds > 0 && seconds <= 1e9)) throw CLI::ValidationError(flag, "must be between 0 and 1e9 seconds");
  return absl::Seconds(seconds);
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
)";

constexpr char kExamples[] = R"(Examples:
  once      sgdrun -n 4 step.sgda --inputs in.safetensors --outputs out.safetensors
  train     sgdrun -n 4 mlp.sgda --init state.safetensors --data train.safetensors --feed x=images,y=labels \
              --steps 1000 --seed 1 --log-json log.jsonl --save checkpoints --save-every 100
  resume    sgdrun -n 2 mlp2.sgda --resume checkpoints --data train.safetensors --feed x=images,y=labels --steps 1000
  evaluate  sgdrun mlp.sgda --steps 500 --data train.safetensors --eval-every 100 --eval-data heldout.safetensors
  benchmark sgdrun -n 4 step.sgda --bench 50
  cluster   srun -n 4 sgdrun step.sgda ...    (also torchrun, mpirun: the launcher's environment decides)
  hosts     sgdrun -n 8 --nnodes 2 --node-rank 0 --master host0:29500 --secret-file secret step.sgda ...

Exit codes: 0 done; 1 the input, the environment or a rank is at fault; 2 wrong usage; 75 stopped between two steps
of training by SIGTERM or SIGINT: go on with --resume. A second signal ends the run at once.
)";

// CLI11's layout with our usage lines and without its doubled blank lines.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override { return kUsage; }
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
    throw CLI::ValidationError("--feed", "'" + pair + "' is not INPUT=TENSOR");
  }
  options.run.feed.emplace_back(pair.substr(0, equal), pair.substr(equal + 1));
}

// "last=3".
uint64_t ParseKeep(const std::string& text) {
  constexpr std::string_view kLast = "last=";
  uint64_t count = 0;
  if (text.starts_with(kLast) && absl::SimpleAtoi(text.substr(kLast.size()), &count) && count > 0) return count;
  throw CLI::ValidationError("--keep", "'" + text + "' is not last=K with a K of 1 or more");
}

void AddTrainFlags(CLI::App& app, Options& options) {
  const Group state(app, "Train: state");
  state.Add("--steps", "K", options.run.steps, "Train for so many steps (after --resume: further ones)")
      ->check(CLI::PositiveNumber);
  state.Add("--init", "FILE", options.run.init,
            "Initial state and inputs that never change (default: the program 'init')");
  state.Add("--resume", "DIR", options.run.resume,
            "Go on from a checkpoint or the newest in a folder, saved on any ranks");
  state.Add("--save", "DIR", options.run.save, "Save checkpoints into DIR at the end, and with --save-every before");
  state.Add("--save-every", "S", options.run.save_every, "Steps between checkpoints")->check(CLI::PositiveNumber);
  state.Call<std::string>(
      "--keep", "last=K", [&](const std::string& text) { options.run.keep = ParseKeep(text); },
      "Remove all but the K newest checkpoints once a newer one is complete (default: keep all)");
  state.Add(
      "--carry", "OUT:IN,...", options.run.carry,
      "Outputs that are inputs of the next step, before what the artifact knows; none:IN keeps an input, none all");
  state.Add("--carry-json", "FILE", options.run.carry_json,
            "The same from a file: a list of [output, input]; null keeps an input, an empty list all");

  const Group data(app, "Train: data");
  data.Add("--data", "FILE", options.run.data, "Rows to draw batches from, shuffled alike for any number of ranks");
  data.Call<std::vector<std::string>>(
          "--feed", "INPUT=TENSOR,...",
          [&](const std::vector<std::string>& pairs) {
            for (const std::string& pair : pairs) AddFeed(options, pair);
          },
          "Which tensor of the data feeds which input (default: equal names)")
      ->delimiter(',')
      ->expected(1, -1)
      ->allow_extra_args(false);
  data.Add("--batches", "FILE", options.run.batches, "Ready-made batches: tensors stepK.argN or stepK.<name>, cycled");
  data.Call<uint64_t>(
      "--seed", "S", [&](uint64_t seed) { options.run.seed = seed; },
      "Seed of shuffling and of the key of program 'init' (default 0)");

  const Group reports(app, "Train: reports");
  reports.Add("--loss", "OUT", options.run.loss, "Output that is the loss (default: the first floating-point scalar)");
  reports.Add("--log-json", "FILE", options.log_json, "One JSON line a step, into a new file");
  reports
      .Add("--print-every", "K", options.print_every,
           "Print a line every K steps, where there is no terminal (default 1)")
      ->check(CLI::PositiveNumber);
  reports.Add("--eval-every", "E", options.run.eval_every, "Run the program 'eval' every E steps")
      ->check(CLI::PositiveNumber);
  reports.Add("--eval-data", "FILE", options.run.eval_data,
              "Rows for 'eval'; its scalar outputs are averaged over their batches");
}

void AddOtherFlags(CLI::App& app, Options& options) {
  const Group bench(app, "Benchmark");
  bench.Add("--bench", "K", options.run.bench_steps, "Time K steps on --inputs or random ones; prints one JSON line")
      ->check(CLI::PositiveNumber);
  bench.AddSwitch("--null-kernels", options.run.null_kernels, "Run the plan without kernels, to see its own cost");
  bench.Add("--profile", "FILE", options.profile, "Least time of every instruction of rank 0, one JSON line each");
  bench.Add("--trace", "FILE", options.trace, "The last step of rank 0 as a timeline for chrome://tracing or Perfetto");

  const Group ranks(app, "Ranks");
  launch::RankFlags& flags = options.rank_flags;
  ranks.Add("-n", "RANKS", flags.ranks, "Start so many ranks here (default: as the launcher says, else the mesh)")
      ->check(CLI::PositiveNumber);
  ranks.Add("--threads", "T", options.threads, "Compute threads per rank (default: cores divided by ranks)")
      ->check(CLI::PositiveNumber);
  ranks
      .Call<std::string>(
          "--comm-thread", "WHEN",
          [&](const std::string& when) {
            options.comm_thread = when == "on"    ? launch::CommThread::kOn
                                  : when == "off" ? launch::CommThread::kOff
                                                  : launch::CommThread::kAuto;
          },
          "on, off or auto (default): collectives run beside compute on a thread of their own; auto: if each rank has "
          "a "
          "core to spare")
      ->check(CLI::IsMember({"on", "off", "auto"}));
  ranks.Call<double>(
      "--deadline", "SECONDS", [&](double seconds) { options.run.deadline = Positive("--deadline", seconds); },
      "Longest wait for another rank, and longest time of computing in which no part of an instruction is finished, "
      "before "
      "giving up (default 300)");
  ranks.Call<double>(
      "--step-limit", "SECONDS", [&](double seconds) { options.run.step_limit = Positive("--step-limit", seconds); },
      "Longest time that a step may take, looked at in each trip of a loop: ends loops that never end, and names them "
      "(default: none; a note after --deadline says where such a step is)");
  ranks.Add("--device", "DEVICE", options.run.device, "cpu or cuda (default: what the artifact was compiled for)")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  ranks.AddSwitch("--tune", options.run.tune,
                  "Time the candidates for products and convolutions of a GPU at the start, and keep the choices");
  ranks.AddSwitch("--fast", options.run.fast,
                  "Let GPUs' switches take sums, in an order that may be another one in every run");
  ranks.AddSwitch("--share-gpus", options.run.shares_gpus, "Let ranks share GPUs where there are too few, for tests");
  ranks.AddSwitch(
      "--eager", options.run.eager,
      "Give GPUs every instruction of every step and wait for each, instead of a recorded graph: errors name theirs");
  ranks.Add("--rank", "R", flags.rank, "This process is one rank of a job that was started by hand");
  ranks.Add("--world-size", "N", flags.world_size, "Ranks of that job")->check(CLI::PositiveNumber);
  ranks.Add("--nnodes", "N", flags.nodes, "This host is one of N that start as many ranks each")
      ->check(CLI::PositiveNumber);
  ranks.Add("--node-rank", "R", flags.node_rank, "Its number, from 0 on");
  ranks.Add("--master", "HOST:PORT", flags.master, "Where rank 0 listens, of ranks on several hosts (or SGD_MASTER)");
  ranks.Add("--secret-file", "FILE", options.secret_file, "What all ranks of several hosts know (or SGD_SECRET)");
  ranks.Add("--rendezvous", "NAME", flags.rendezvous, "Name that the ranks of that job share, and no other job here");
}

// What is wrong with the combination of flags; empty when nothing is.
std::string CheckCombination(const CLI::App& app, Options& options) {
  auto given = [&](const char* flag) { return app.count(flag) > 0; };
  if (given("--bench") && given("--steps")) return "--bench and --steps exclude each other";
  if (options.shows_topology) {
    return given("--bench") || given("--steps") || given("artifact") ? "--topology runs nothing: leave the rest out"
                                                                     : "";
  }
  if (!given("artifact")) return "artifact is required";
  options.run.mode = given("--bench")   ? train::Mode::kBench
                     : given("--steps") ? train::Mode::kTrain
                                        : train::Mode::kOnce;
  if (options.run.mode != train::Mode::kTrain) {
    for (const char* flag : {"--init", "--resume", "--save", "--save-every", "--keep", "--data", "--feed", "--batches",
                             "--loss", "--log-json", "--print-every", "--eval-every", "--eval-data"}) {
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
  if (given("--eval-data") && !given("--eval-every")) return "--eval-data needs --eval-every";
  if (given("--rank") != given("--world-size")) return "--rank and --world-size belong together";
  if (given("--nnodes") && given("--rank"))
    return "--nnodes starts ranks, --rank says that this process is one: give one of them";
  if (given("--node-rank") && !given("--nnodes")) return "--node-rank is one of --nnodes, which is missing";
  if (given("-n") && given("--rank")) return "-n starts ranks, --rank says that this process is one: give one of them";
  return "";
}

Leave WrongUsage(const std::string& what) { return {2, absl::StrCat("sgdrun: ", what, " (see sgdrun --help)\n")}; }

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
  AddOtherFlags(app, options);
  const char* other = "Other";
  app.add_flag("--topology", options.shows_topology,
               "Print this host's cores, GPUs, links and network cards, and which rank gets what")
      ->group(other);
  app.set_version_flag("--version", std::string("sgdrun ") + SGD_VERSION, "Print the version")->group(other);
  app.set_help_flag("-h,--help", "Print this text")->group(other);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Leave{0, app.help()};
  } catch (const CLI::CallForVersion& version) {
    return Leave{0, absl::StrCat(version.what(), "\n")};
  } catch (const CLI::ParseError& error) {
    return WrongUsage(error.what());
  }
  options.run.times_instructions = !options.profile.empty() || !options.trace.empty();
  std::string fault = CheckCombination(app, options);
  if (!fault.empty()) return WrongUsage(fault);
  return options;
}

}  // namespace sgd::sgdrun
