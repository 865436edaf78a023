// Parsing with CLI11, whose exceptions end here, and the rules about which flags go together.
#include "tools/sgdrun/options.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"

namespace sgd::sgdrun {
namespace {

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
)";

constexpr char kExamples[] = R"(Examples:
  once      sgdrun -n 4 step.sgda --inputs in.safetensors --outputs out.safetensors
  train     sgdrun -n 4 mlp.sgda --init state.safetensors --data train.safetensors --feed x=images,y=labels \
              --steps 1000 --seed 1 --log-json log.jsonl --save checkpoints --save-every 100
  resume    sgdrun -n 2 mlp2.sgda --resume checkpoints --data train.safetensors --feed x=images,y=labels --steps 1000
  evaluate  sgdrun mlp.sgda --steps 500 --data train.safetensors --eval-every 100 --eval-data heldout.safetensors
  benchmark sgdrun -n 4 step.sgda --bench 50
  cluster   srun -n 4 sgdrun step.sgda ...    (also torchrun, mpirun: the launcher's environment decides)

Exit codes: 0 done; 1 the input, the environment or a rank is at fault; 2 wrong usage.
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

void AddOnceFlags(CLI::App& app, Options& options) {
  const char* group = kFirstGroup;
  app.add_option("--inputs", options.inputs, "Tensors for the program's inputs")->group(group)->option_text("FILE");
  app.add_option("--outputs", options.outputs,
                 "Where outputs go, named result0, result1, ... (training: the last step's)")
      ->group(group)
      ->option_text("FILE");
  app.add_option_function<std::string>(
         "--output-names", [&](const std::string& names) { options.use_model_output_names = names == "model"; },
         "'result' (default) or 'model' for the model's own output names")
      ->check(CLI::IsMember({"result", "model"}))
      ->group(group)
      ->option_text("NAMES");
  app.add_option("--program", options.program, "Program of the artifact to run (default: main, else train)")
      ->group(group)
      ->option_text("NAME");
}

void AddTrainFlags(CLI::App& app, Options& options) {
  const char* state = "Train: state";
  app.add_option("--steps", options.steps, "Train for so many steps (after --resume: further ones)")
      ->check(CLI::PositiveNumber)
      ->group(state)
      ->option_text("K");
  app.add_option("--init", options.init, "Initial state and inputs that never change (default: the program 'init')")
      ->group(state)
      ->option_text("FILE");
  app.add_option("--resume", options.resume, "Go on from a checkpoint or the newest in a folder, saved on any ranks")
      ->group(state)
      ->option_text("DIR");
  app.add_option("--save", options.save, "Save checkpoints into DIR at the end, and with --save-every before")
      ->group(state)
      ->option_text("DIR");
  app.add_option("--save-every", options.save_every, "Steps between checkpoints")
      ->check(CLI::PositiveNumber)
      ->group(state)
      ->option_text("S");
  app.add_option("--carry", options.carry, "Outputs that are inputs of the next step (default: as donated)")
      ->group(state)
      ->option_text("OUT:IN,...");
  app.add_option("--carry-json", options.carry_json, "The same from a file: a list of [output, input]")
      ->group(state)
      ->option_text("FILE");

  const char* data = "Train: data";
  app.add_option("--data", options.data, "Rows to draw batches from, shuffled alike for any number of ranks")
      ->group(data)
      ->option_text("FILE");
  app.add_option_function<std::vector<std::string>>(
         "--feed",
         [&](const std::vector<std::string>& pairs) {
           for (const std::string& pair : pairs) {
             const size_t equal = pair.find('=');
             if (equal == 0 || equal == std::string::npos || equal + 1 == pair.size()) {
               throw CLI::ValidationError("--feed", "'" + pair + "' is not INPUT=TENSOR");
             }
             options.feed.emplace_back(pair.substr(0, equal), pair.substr(equal + 1));
           }
         },
         "Which tensor of the data feeds which input (default: equal names)")
      ->delimiter(',')
      ->expected(1, -1)
      ->allow_extra_args(false)
      ->group(data)
      ->option_text("INPUT=TENSOR,...");
  app.add_option("--batches", options.batches, "Ready-made batches: tensors stepK.argN or stepK.<name>, cycled")
      ->group(data)
      ->option_text("FILE");
  app.add_option_function<uint64_t>(
         "--seed", [&](uint64_t seed) { options.seed = seed; },
         "Seed of shuffling and of the key of program 'init' (default 0)")
      ->group(data)
      ->option_text("S");

  const char* reports = "Train: reports";
  app.add_option("--loss", options.loss, "Output that is the loss (default: the first floating-point scalar)")
      ->group(reports)
      ->option_text("OUT");
  app.add_option("--log-json", options.log_json, "One JSON line a step, into a new file")
      ->group(reports)
      ->option_text("FILE");
  app.add_option("--eval-every", options.eval_every, "Run the program 'eval' every E steps")
      ->check(CLI::PositiveNumber)
      ->group(reports)
      ->option_text("E");
  app.add_option("--eval-data", options.eval_data,
                 "Rows for 'eval'; its scalar outputs are averaged over their batches")
      ->group(reports)
      ->option_text("FILE");
}

void AddOtherFlags(CLI::App& app, Options& options) {
  const char* bench = "Benchmark";
  app.add_option("--bench", options.bench_steps, "Time K steps on --inputs or random ones; prints one JSON line")
      ->check(CLI::PositiveNumber)
      ->group(bench)
      ->option_text("K");
  app.add_flag("--null-kernels", options.null_kernels, "Run the plan without kernels, to see its own cost")
      ->group(bench);
  app.add_option("--profile", options.profile, "Least time of every instruction of rank 0, one JSON line each")
      ->group(bench)
      ->option_text("FILE");

  const char* ranks = "Ranks";
  auto positive = [](std::optional<uint32_t>& target) { return [&target](uint32_t value) { target = value; }; };
  app.add_option_function<uint32_t>("-n", positive(options.rank_flags.ranks),
                                    "Start so many ranks here (default: as the launcher says, else the mesh)")
      ->check(CLI::PositiveNumber)
      ->group(ranks)
      ->option_text("RANKS");
  app.add_option("--threads", options.threads, "Compute threads per rank (default: cores divided by ranks)")
      ->check(CLI::PositiveNumber)
      ->group(ranks)
      ->option_text("T");
  app.add_option_function<double>(
         "--deadline",
         [&](double seconds) {
           // Also keeps out what is not a number.
           if (!(seconds > 0 && seconds <= 1e9))
             throw CLI::ValidationError("--deadline", "must be between 0 and 1e9 seconds");
           options.deadline = absl::Seconds(seconds);
         },
         "Longest wait for another rank before giving up (default 300)")

      ->group(ranks)
      ->option_text("SECONDS");
  app.add_option_function<uint32_t>(
         "--rank", [&](uint32_t rank) { options.rank_flags.rank = rank; },
         "This process is one rank of a job that was started by hand")
      ->group(ranks)
      ->option_text("R");
  app.add_option_function<uint32_t>("--world-size", positive(options.rank_flags.world_size), "Ranks of that job")
      ->check(CLI::PositiveNumber)
      ->group(ranks)
      ->option_text("N");
  app.add_option_function<std::string>(
         "--rendezvous", [&](const std::string& name) { options.rank_flags.rendezvous = name; },
         "Name that the ranks of that job share, and no other job here")
      ->group(ranks)
      ->option_text("NAME");
}

// What is wrong with the combination of flags; empty when nothing is.
std::string CheckCombination(const CLI::App& app, Options& options) {
  auto given = [&](const char* flag) { return app.count(flag) > 0; };
  if (given("--bench") && given("--steps")) return "--bench and --steps exclude each other";
  options.mode = given("--bench") ? Mode::kBench : given("--steps") ? Mode::kTrain : Mode::kOnce;
  if (options.mode != Mode::kTrain) {
    for (const char* flag : {"--init", "--resume", "--save", "--save-every", "--data", "--feed", "--batches", "--loss",
                             "--log-json", "--eval-every", "--eval-data"}) {
      if (given(flag)) return absl::StrCat(flag, " is for training: say how long with --steps");
    }
  }
  if (options.mode == Mode::kTrain && given("--inputs"))
    return "--inputs is for a single run; training starts from --init";
  if (options.mode == Mode::kOnce && (given("--carry") || given("--carry-json")))
    return "--carry needs --steps or --bench";
  if (options.mode == Mode::kBench && given("--outputs")) return "--bench writes no --outputs";
  for (const char* flag : {"--null-kernels", "--profile"}) {
    if (options.mode != Mode::kBench && given(flag)) return absl::StrCat(flag, " is for --bench");
  }
  if (given("--carry") && given("--carry-json")) return "--carry and --carry-json exclude each other";
  if (given("--data") && given("--batches")) return "--data and --batches exclude each other";
  if (given("--feed") && !given("--data") && !given("--eval-data"))
    return "--feed says what --data feeds; --data is missing";
  if (given("--save-every") && !given("--save")) return "--save-every needs --save";
  if (given("--eval-data") && !given("--eval-every")) return "--eval-data needs --eval-every";
  if (given("--rank") != given("--world-size")) return "--rank and --world-size belong together";
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
  app.add_option("artifact", options.artifact, "The compiled model, made by sgdc")->required()->option_text("ARTIFACT");
  AddOnceFlags(app, options);
  AddTrainFlags(app, options);
  AddOtherFlags(app, options);
  const char* other = "Other";
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
  std::string fault = CheckCombination(app, options);
  if (!fault.empty()) return WrongUsage(fault);
  return options;
}

}  // namespace sgd::sgdrun
