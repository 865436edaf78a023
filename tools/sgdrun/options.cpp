// Parsing with CLI11, whose exceptions end here.
#include "tools/sgdrun/options.h"

#include <set>

#include "runtime/comm/control/build_version.h"
#include "tools/command_line/help.h"
#include "tools/command_line/parse.h"
#include "tools/sgdrun/check_flags.h"
#include "tools/sgdrun/flag_group.h"

namespace sgd::sgdrun {
namespace {

constexpr char kAbout[] =
    "Runs a compiled artifact (.sgda) on its ranks: once, as a training loop, or as a benchmark.\n"
    "Tensors are global in safetensors files; inputs are named arg0, arg1, ... or by the model's "
    "own names.";

constexpr char kUsage[] =
    R"(  sgdrun [-n RANKS] ARTIFACT --inputs FILE --outputs FILE
  sgdrun [-n RANKS] ARTIFACT --steps K [--init FILE] [--data FILE | --batches FILE] [--save DIR] ...
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

Exit codes: 0 done; 1 the input, the environment or a rank is at fault; 2 wrong usage; 75 stopped between
two steps of training by SIGTERM, SIGINT or SIGUSR1: continue with --resume. A second signal before the
state is saved ends the run at once with 1.
)";

void AddOnceFlags(CLI::App& app, Options& options) {
  const Group group(app, "Run once");
  group.Add("--inputs", "FILE", options.run.inputs, "Tensors for the program's inputs");
  group.Add("--outputs", "FILE", options.run.outputs,
            "Write the outputs into FILE as result0, result1, ... (in training: those of the last step)");
  group
      .Call<std::string>(
          "--output-names", "result|model",
          [&](const std::string& names) { options.run.use_model_output_names = names == "model"; },
          "Names of outputs in the file: result0, ... (default), or the model's own names")
      ->check(CLI::IsMember({"result", "model"}));
  group.Add("--program", "NAME", options.run.program, "Program of the artifact to run (default: main, else train)");
}

void AddBenchFlags(CLI::App& app, Options& options) {
  const Group group(app, "Benchmark");
  group.Add("--bench", "K", options.run.bench_steps, "Time K steps on --inputs or random inputs; prints one JSON line")
      ->check(CheckCount<uint64_t>);
  group.AddSwitch("--null-kernels", options.run.null_kernels,
                  "Run the plan without kernels, to measure the runtime's own overhead");
  group.Add(
      "--profile", "FILE", options.profile,
      "Write the minimum time of each instruction of rank 0 (in a pipeline: of the first rank of each stage), one "
      "JSON line each; print the ten most expensive as a table on standard error");
  group.Add("--trace", "FILE", options.trace,
            "Write the last step of the same ranks as a timeline for chrome://tracing or Perfetto");
}

void AddOtherFlags(CLI::App& app, Options& options) {
  app.add_flag("--topology", options.shows_topology,
               "Print this host's cores, GPUs, links and network interfaces, and what each rank gets");
  app.add_option("--measure-topology", options.measured_topology,
                 "Measure the devices of the ranks and the links between them, and write a topology file for sgdc and "
                 "sgd-sim (docs/topologies.md)")
      ->option_text("FILE");
}

// Flags of the groups of training have no meaning elsewhere, except those that --bench reads too, and --steps, which
// selects training.
GivenFlags FindGivenFlags(const CLI::App& app) {
  static const std::set<std::string> of_all_modes = {"--steps", "--carry", "--carry-json", "--seed"};
  GivenFlags given;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0) continue;
    const std::string name = option->get_name();
    given.names.insert(name);
    if (option->get_group().starts_with("Train") && !of_all_modes.contains(name)) given.training.push_back(name);
  }
  return given;
}

}  // namespace

std::variant<Options, Leave> ParseOptions(int argc, const char* const* argv) {
  Options options;
  CLI::App app{kAbout, "sgdrun"};
  tools::SetHelp(app, kUsage, kExamples);
  app.add_option("artifact", options.run.artifact, "The compiled model, made by sgdc")->option_text("ARTIFACT");
  AddOnceFlags(app, options);
  AddTrainingFlags(app, options);
  AddBenchFlags(app, options);
  AddRankFlags(app, options);
  AddOtherFlags(app, options);
  if (std::optional<tools::Leave> leave = tools::Parse(app, comm::BuildVersion(), argc, argv)) return *leave;
  options.run.times_instructions = !options.profile.empty() || !options.trace.empty();
  const std::string fault = CheckFlags(FindGivenFlags(app), options);
  if (!fault.empty()) return tools::WrongUsage(app, fault);
  return options;
}

}  // namespace sgd::sgdrun
