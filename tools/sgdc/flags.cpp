// Parsing with CLI11, whose exceptions end here.
#include "tools/sgdc/flags.h"

#include <CLI/CLI.hpp>

#include "tools/command_line/help.h"
#include "tools/command_line/parse.h"

namespace {

using namespace mlir::sgd;

constexpr const char* kUsage =
    R"(  sgdc MODEL -o FILE.sgda [--mesh AXIS=N,...] [--recipe FILE.json|NAME] [--target TARGET] ...
  sgdc NAME=MODEL NAME=MODEL ... -o FILE.sgda
  sgdc MODEL --report | --explain | --emit LEVEL
  sgdc --doctor
)";

constexpr const char* kExamples =
    R"(MODEL is StableHLO text as jax.jit(f).lower(...).as_text() prints it, a PyTorch archive as torch.export.save
writes it, or text of this compiler's own graph level; - is standard input. Several programs, as NAME=MODEL,
go into one artifact and share state by the names of their arguments.

Examples:
  sgdc step.mlir -o step.sgda                        the mesh of the model
  sgdc step.mlir -o step.sgda --mesh data=8          the same model on 8 ranks
  sgdc step.mlir -o step.sgda --mesh data=8 --recipe zero3
                                                     a model for one device on 8 ranks, parameters in shards
  sgdc step.mlir -o step.sgda --mesh data=8 --mesh data=4
                                                     a plan for 8 ranks and one for 4 in one artifact
  sgdc step.mlir -o step.sgda --target cuda:sm_90    kernels for GPUs; neither a GPU nor CUDA is needed
  sgdc step.mlir -o step.sgda --auto 8               for 8 ranks, with the fastest recipe that a search finds
  sgdc train=step.mlir eval=eval.mlir -o m.sgda      two programs over the same parameters
  sgdc step.mlir --emit spmd                         the program of one rank, as text; no artifact
  sgdc step.mlir -o step.sgda --report --explain     bytes, memory and the reason of each collective
)";

/// Adds a flag whose table is printed, or written as JSON if a file is given.
void addTable(CLI::App& app, const std::string& name, std::string& path, const std::string& what) {
  app.add_option(name, path, what + "; write it as JSON with =FILE")
      ->expected(0, 1)
      ->default_str("-")
      ->option_text("FILE.json");
}

/// A flag with one value that may stand several times.
CLI::Option* addRepeated(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                         const std::string& what) {
  return app.add_option(name, values, what)->expected(1, -1)->allow_extra_args(false);
}

void addFlags(CLI::App& app, Flags& flags) {
  app.add_option("MODEL", flags.models, "The model, or several programs as NAME=MODEL")->option_text("MODEL ...");
  app.add_option("-o", flags.output, "Write the artifact (.sgda) to FILE")->option_text("FILE");
  addRepeated(app, "--recipe", flags.recipes,
              "Shardings without changes to the model: a file with mesh, rules by names and scopes, batch, ZeRO stage "
              "(docs/recipes.md), or ddp, zero1, zero2, zero3 (over the axis data of --mesh) or pipeline:P; several "
              "recipes make a plan each (docs/bundles.md)")
      ->option_text("FILE.json|NAME");
  app.add_option("--batch", flags.batch, "Shard the rows of all inputs over axes: a recipe with the field batch alone")
      ->option_text("AXIS,...");
  app.add_option("--auto", flags.autoRanks,
                 "Find a recipe for N ranks: compares meshes, sharding rules, ZeRO stages, pipelines and micro-batches "
                 "by the simulated time of their plans (docs/auto-sharding.md)")
      ->option_text("N");
  app.add_option("--auto-recipe", flags.autoRecipe, "Write the recipe that --auto found, for --recipe")
      ->option_text("FILE.json");
  addTable(app, "--auto-table", flags.autoTable, "Print all candidates of --auto, and why each was rejected");
  app.add_option("--auto-evaluations", flags.autoEvaluations,
                 "Number of candidates that --auto compiles and simulates at most (default 200)")
      ->option_text("K")
      ->check(CLI::Range(1u, std::numeric_limits<unsigned>::max()));
  addRepeated(app, "--mesh", flags.meshes,
              "Sizes of the model's axes, e.g. data=4,model=2; other axes keep theirs; several --mesh make a plan "
              "each, and sgdrun runs the one for its number of ranks")
      ->option_text("AXIS=N,...");
  app.add_option("--bind", flags.bindings,
                 "Sizes that a PyTorch model leaves open (dynamic_shapes), e.g. batch=32,sequence=128 or tokens.0=32")
      ->option_text("NAME=N,...");
  app.add_option("--target", flags.compile.target,
                 "cpu (default), or cuda: and GPU architectures, e.g. cuda:sm_80,sm_90 (sm_80, sm_90, sm_100)")
      ->option_text("TARGET");
  app.add_option("--cpu", flags.compile.cpu,
                 "The CPU to compile for: this host's (default), any with AVX2, or any with AVX-512")
      ->option_text("native|x86-64-v3|x86-64-v4");
  app.add_option("--loss", flags.compile.loss,
                 "Result that is the loss, a floating-point scalar, e.g. \"result[1]['loss']\" or result[1].loss; by "
                 "default names and dataflow decide (docs/recipes.md)")
      ->option_text("NAME");
  app.add_option("--emit", flags.emit,
                 "Print the IR of a level; stablehlo prints the level spmd in ops of StableHLO, with source locations")
      ->option_text("graph|sharded|spmd|stablehlo|kernels|plan");
  app.add_option("--emit-request", flags.emitRequest,
                 "Write the compilation as data: the request, and the programs at the level of --emit (without it: as "
                 "imported) with their source locations; sgd-opt --replay continues from there to the same artifact")
      ->option_text("FILE.mlir");
  addTable(app, "--report", flags.report, "Print bytes sent, memory, flops and counts, per rank and step");
  addTable(
      app, "--explain", flags.explain,
      "Print the bytes sent and the reason, by parameter and scope, the largest first; =all prints each collective");
  app.add_option(
         "--html", flags.html,
         "Write one HTML file with pictures: timeline, memory, collectives, roofline, shardings (docs/report.md)")
      ->option_text("FILE");
  app.add_option(
         "--memory-limit", flags.memoryLimit,
         "Peak memory per rank, e.g. 80GiB: a program that needs more recomputes values and gathers parameters again, "
         "as few as possible (--report and --explain list them), or is refused with the smallest feasible SIZE")
      ->option_text("SIZE");
  app.add_option("--micro", flags.micro,
                 "Compute the batch in N micro-batches, one after the other in each step: same outputs, less memory "
                 "for activations")
      ->option_text("N")
      ->check(CLI::Range(int64_t{1}, kMostParts));
  app.add_flag("--micro-refuse", flags.compile.refuseSplit,
               "With --micro, refuse ops that need the memory of the full batch, by source line");
  app.add_option(
         "--topology", flags.compile.topology,
         "Devices and links for the cost model: host, a100, h100, b200 or a file; by default those of the target")
      ->option_text("NAME|FILE.json");
  app.add_option("--tile-scratch", flags.tileScratch,
                 "Scratch memory per thread for matmuls computed in tiles with a kernel between them, such as "
                 "attention (default 640KiB); 0 disables tiles")
      ->option_text("SIZE");
  app.add_option("--unroll", flags.compile.unrolledOps,
                 "Unroll loops with a known number of iterations that become at most OPS operations (default 4000), or "
                 "a quarter of that for more than 8 iterations; 0 disables unrolling")
      ->option_text("OPS")
      ->check(CLI::Range(int64_t{0}, std::numeric_limits<int64_t>::max()));
  app.add_option("--shard-updates", flags.shardUpdates,
                 "Shard updates of replicated state over ranks: auto (default) if that is estimated to be faster and "
                 "sends no more bytes; never: every rank updates the full state")
      ->option_text("auto|never")
      ->check(CLI::IsMember({"auto", "never"}));
  app.add_option("--constraints", flags.constraints,
                 "Constraints of the text on intermediate values: keep them (default), or weigh: drop them if the "
                 "program then sends less")
      ->option_text("keep|weigh")
      ->check(CLI::IsMember({"keep", "weigh"}));
  app.add_flag("--keep-unreduced", flags.compile.keepUnreduced,
               "Let arguments and results that the text calls unreduced over mesh axes stay summands: the artifact has "
               "them with a leading dimension of summands, one per rank along these axes");
  app.add_flag("--allow-tf32", flags.compile.allowTf32,
               "Let GPUs round the operands of f32 matmuls and convolutions of precision DEFAULT to TF32 (10 bits of "
               "mantissa), as JAX and PyTorch may; no effect on CPUs");
  app.add_option("--cache", flags.cache,
                 "Cache compilations in this folder; creates it if missing; processes may share it")
      ->option_text("DIR");
  app.add_option("--cache-size", flags.cacheSize,
                 "Size above which --cache deletes the least recently used entries (default 2GiB)")
      ->option_text("SIZE");
  app.add_option("--weights", flags.weights, "Write the weights in MODEL to a file, for sgdrun --init")
      ->option_text("FILE.safetensors");
  app.add_option("--list-ops", flags.listOps, "Print the ops that a frontend imports, and exit")
      ->option_text("stablehlo|torch");
  app.add_flag("--doctor", flags.isDoctor,
               "Print which features this machine lacks something for, and what to install or change");
  app.add_flag("--time", flags.time,
               "Print the time of each pass and stage on standard error; start-up is the CPU time before main");
}

void setGroups(CLI::App& app) {
  using ::sgd::tools::SetGroup;
  SetGroup(app, "Results", {"-o", "--emit", "--emit-request", "--report", "--explain", "--html", "--weights"});
  SetGroup(
      app, "Ranks and shardings",
      {"--mesh", "--recipe", "--batch", "--shard-updates", "--constraints", "--keep-unreduced", "--loss", "--bind"});
  SetGroup(app, "Search for a recipe", {"--auto", "--auto-recipe", "--auto-table", "--auto-evaluations"});
  SetGroup(app, "Memory", {"--memory-limit", "--micro", "--micro-refuse", "--tile-scratch"});
  SetGroup(app, "Target", {"--target", "--cpu", "--topology", "--allow-tf32", "--unroll"});
  SetGroup(app, "Cache", {"--cache", "--cache-size"});
}

}  // namespace

std::optional<::sgd::tools::Leave> mlir::sgd::readFlags(int argc, const char* const* argv, Flags& flags) {
  CLI::App app("Compiles train steps for synchronous execution on many ranks into one artifact.", "sgdc");
  ::sgd::tools::SetHelp(app, kUsage, kExamples);
  addFlags(app, flags);
  setGroups(app);
  std::optional<::sgd::tools::Leave> leave = ::sgd::tools::Parse(app, SGD_VERSION, argc, argv);
  if (!leave && flags.models.empty() && flags.listOps.empty() && !flags.isDoctor)
    leave = ::sgd::tools::WrongUsage(app, "MODEL is required; expected a program, or NAME=MODEL for each of several");
  if (leave) return leave;
  // CLI11 leaves an option given without its optional value empty.
  for (auto [name, path] : {std::pair("--auto-table", &flags.autoTable), std::pair("--report", &flags.report),
                            std::pair("--explain", &flags.explain)})
    if (app.count(name) && path->empty()) *path = "-";
  return std::nullopt;
}
