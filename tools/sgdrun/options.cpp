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

constexpr char kExamples[] = R"(Examples:
  once      sgdrun -n 4 step.sgda --inputs in.safetensors --outputs out.safetensors
  train     sgdrun -n 4 mlp.sgda --init state.safetensors --data train.safetensors --feed x=images,y=labels \
              --steps 1000 --seed 1 --log-json log.jsonl --save checkpoints --save-every 100
  resume    sgdrun -n 2 mlp2.sgda --resume checkpoints --data train.safetensors --feed x=images,y=labels --steps 1000
  evaluate  sgdrun mlp.sgda --steps 500 --data train.safetensors --eval-every 100 --eval-data heldout.safetensors
  benchmark sgdrun -n 4 step.sgda --bench 50
  cluster   srun -n 4 sgdrun step.sgda ...    (also torchrun, mpirun: the launcher's environment decides)

Exit codes: 0 done; 1 the input, the environment or a rank is at fault; 2 wrong usage.)";

void AddOnceFlags(CLI::App& app, Options& options) {
  const char* group = "Run once";
  app.add_option("--inputs", options.inputs, "Tensors for the program's inputs")
      ->group(group)
      ->type_name("FILE");
  app.add_option("--outputs", options.outputs,
                 "Where outputs go, named result0, result1, ... (after training: of the last step)")
      ->group(group)
      ->type_name("FILE");
  app.add_option_function<std::string>(
         "--output-names",
         [&](const std::string& names) { options.use_model_output_names = names == "model"; },
         "'result' (default) or 'model' for the model's own output names")
      ->check(CLI::IsMember({"result", "model"}))
      ->group(group)
      ->type_name("NAMES");
  app.add_option("--program", options.program,
                 "Which program of the artifact (default: main, else train)")
      ->group(group)
      ->type_name("NAME");
}

void AddTrainFlags(CLI::App& app, Options& options) {
  const char* state = "Train: state";
  app.add_option("--steps", options.steps, "Train for so many steps (after --resume: further ones)")
      ->check(CLI::PositiveNumber)
      ->group(state)
      ->type_name("K");
  app.add_option("--init", options.init,
                 "Initial state, and inputs that stay the same; default: the program named init")
      ->group(state)
      ->type_name("FILE");
  app.add_option(
         "--resume", options.resume,
         "Go on from a checkpoint, or from the newest in a folder of them; any number of ranks")
      ->group(state)
      ->type_name("DIR");
  app.add_option("--save", options.save,
                 "Save checkpoints into DIR, at the end and every --save-every steps")
      ->group(state)
      ->type_name("DIR");
  app.add_option("--save-every", options.save_every, "Steps between checkpoints")
      ->check(CLI::PositiveNumber)
      ->group(state)
      ->type_name("S");
  app.add_option("--carry", options.carry,
                 "Outputs that are inputs of the next step (default: what the model donates)")
      ->group(state)
      ->type_name("OUT:IN,...");
  app.add_option("--carry-json", options.carry_json,
                 "The same from a file: a list of [output, input]")
      ->group(state)
      ->type_name("FILE");

  const char* data = "Train: data";
  app.add_option("--data", options.data,
                 "Rows to draw batches from, shuffled by --seed alike for any number of ranks")
      ->group(data)
      ->type_name("FILE");
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
      ->type_name("INPUT=TENSOR,...");
  app.add_option("--batches", options.batches,
                 "Ready-made batches: tensors stepK.argN or stepK.<name>, cycled")
      ->group(data)
      ->type_name("FILE");
  app.add_option_function<uint64_t>(
         "--seed", [&](uint64_t seed) { options.seed = seed; },
         "Seed of shuffling and of the init program's key (default 0)")
      ->group(data)
      ->type_name("S");

  const char* reports = "Train: reports";
  app.add_option("--loss", options.loss,
                 "Output that is the loss (default: the first scalar floating-point one)")
      ->group(reports)
      ->type_name("OUT");
  app.add_option("--log-json", options.log_json,
                 "One JSON line a step; after --resume lines are appended")
      ->group(reports)
      ->type_name("FILE");
  app.add_option("--eval-every", options.eval_every, "Run the program named eval every E steps")
      ->check(CLI::PositiveNumber)
      ->group(reports)
      ->type_name("E");
  app.add_option("--eval-data", options.eval_data,
                 "Rows for the eval program; its outputs are averaged over their batches")
      ->group(reports)
      ->type_name("FILE");
}

void AddOtherFlags(CLI::App& app, Options& options) {
  const char* bench = "Benchmark";
  app.add_option(
         "--bench", options.bench_steps,
         "Time K steps after 5 for warm-up on --inputs or random ones; prints one JSON line")
      ->check(CLI::PositiveNumber)
      ->group(bench)
      ->type_name("K");
  app.add_flag("--null-kernels", options.null_kernels,
               "Run the plan without kernels, to see its own cost")
      ->group(bench);

  const char* ranks = "Ranks";
  auto positive = [](std::optional<uint32_t>& target) {
    return [&target](uint32_t value) { target = value; };
  };
  app.add_option_function<uint32_t>("-n", positive(options.rank_flags.ranks),
                                    "Start so many ranks on this host (default: the launcher's "
                                    "environment, else the artifact's mesh)")
      ->check(CLI::PositiveNumber)
      ->group(ranks)
      ->type_name("RANKS");
  app.add_option("--threads", options.threads,
                 "Compute threads per rank (default: cores divided by ranks)")
      ->check(CLI::PositiveNumber)
      ->group(ranks)
      ->type_name("T");
  app.add_option_function<double>(
         "--deadline", [&](double seconds) { options.deadline = absl::Seconds(seconds); },
         "Longest wait for another rank before the job ends with an error (default 300)")
      ->check(CLI::PositiveNumber)
      ->group(ranks)
      ->type_name("SECONDS");
  app.add_option_function<uint32_t>(
         "--rank", [&](uint32_t rank) { options.rank_flags.rank = rank; },
         "This process is one rank of a job started by hand; with --world-size")
      ->group(ranks)
      ->type_name("R");
  app.add_option_function<uint32_t>("--world-size", positive(options.rank_flags.world_size),
                                    "Ranks of that job")
      ->check(CLI::PositiveNumber)
      ->group(ranks)
      ->type_name("N");
  app.add_option_function<std::string>(
         "--rendezvous", [&](const std::string& name) { options.rank_flags.rendezvous = name; },
         "Name that the ranks of that job, and of no other on this host, share")
      ->group(ranks)
      ->type_name("NAME");
}

// What is wrong with the combination of flags; empty when nothing is.
std::string CheckCombination(const CLI::App& app, Options& options) {
  auto given = [&](const char* flag) { return app.count(flag) > 0; };
  if (given("--bench") && given("--steps")) return "--bench and --steps exclude each other";
  options.mode = given("--bench") ? Mode::kBench : given("--steps") ? Mode::kTrain : Mode::kOnce;
  if (options.mode != Mode::kTrain) {
    for (const char* flag : {"--init", "--resume", "--save", "--save-every", "--data", "--feed",
                             "--batches", "--loss", "--log-json", "--eval-every", "--eval-data"}) {
      if (given(flag)) return absl::StrCat(flag, " is for training: say how long with --steps");
    }
  }
  if (options.mode == Mode::kTrain && given("--inputs"))
    return "--inputs is for a single run; training starts from --init";
  if (options.mode == Mode::kOnce && (given("--carry") || given("--carry-json")))
    return "--carry needs --steps or --bench";
  if (options.mode == Mode::kBench && given("--outputs")) return "--bench writes no --outputs";
  if (options.mode != Mode::kBench && given("--null-kernels"))
    return "--null-kernels is for --bench";
  if (given("--carry") && given("--carry-json"))
    return "--carry and --carry-json exclude each other";
  if (given("--data") && given("--batches")) return "--data and --batches exclude each other";
  if (given("--feed") && !given("--data") && !given("--eval-data"))
    return "--feed says what --data feeds; --data is missing";
  if (given("--save-every") && !given("--save")) return "--save-every needs --save";
  if (given("--eval-data") && !given("--eval-every")) return "--eval-data needs --eval-every";
  if (given("--rank") != given("--world-size")) return "--rank and --world-size belong together";
  if (given("-n") && given("--rank"))
    return "-n starts ranks, --rank says that this process is one: give one of them";
  return "";
}

Leave WrongUsage(const std::string& what) {
  return {2, absl::StrCat("sgdrun: ", what, " (see sgdrun --help)\n")};
}

}  // namespace

std::variant<Options, Leave> ParseOptions(int argc, const char* const* argv) {
  Options options;
  CLI::App app{kAbout, "sgdrun"};
  app.get_formatter()->column_width(32);
  app.get_formatter()->label("Positionals", "Artifact");
  app.get_formatter()->label("Options", "General");
  app.footer(kExamples);
  app.add_option("artifact", options.artifact, "The compiled model, made by sgdc")
      ->required()
      ->type_name("ARTIFACT");
  app.set_version_flag("--version", std::string("sgdrun ") + SGD_VERSION);
  AddOnceFlags(app, options);
  AddTrainFlags(app, options);
  AddOtherFlags(app, options);
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
