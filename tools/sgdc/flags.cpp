// Parsing with CLI11, whose exceptions end here.
#include "tools/sgdc/flags.h"

#include <CLI/CLI.hpp>

#include "tools/command_line/parse.h"

namespace {

using namespace mlir::sgd;

constexpr const char* kExamples = R"(
MODEL is StableHLO text as jax.jit(f).lower(...).as_text() prints it, a PyTorch archive as torch.export.save writes it, or text of this
compiler's own graph level; - is standard input.
Several programs go into one artifact as NAME=MODEL; state is shared between them by argument names.

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

/// What is printed, or written as JSON where a file is given.
void addTable(CLI::App& app, const std::string& name, std::string& path, const std::string& what) {
  app.add_option(name, path, what + "; write it as JSON with =FILE")
      ->expected(0, 1)
      ->default_str("-")
      ->type_name("FILE.json");
}

/// A flag with one value that may stand several times.
CLI::Option* addRepeated(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                         const std::string& what) {
  return app.add_option(name, values, what)->expected(1, -1)->allow_extra_args(false);
}

void addFlags(CLI::App& app, Flags& flags) {
  app.add_option("MODEL", flags.models, "MODEL or NAME=MODEL ...");
  app.add_option("-o", flags.output, "Write the artifact (.sgda) to FILE")->type_name("FILE");
  addRepeated(app, "--recipe", flags.recipes,
              "Shardings without changes to the model: a file with mesh, rules by names and scopes, batch, ZeRO stage "
              "(docs/recipes.md), or ddp, zero1, zero2, zero3 (over the axis data of --mesh) or pipeline:P; several "
              "recipes make a plan each (docs/bundles.md)")
      ->type_name("FILE.json|NAME");
  app.add_option("--batch", flags.batch, "Shard the rows of all inputs over axes: a recipe with the field batch alone")
      ->type_name("AXIS,...");
  app.add_option("--auto", flags.autoRanks,
                 "Find a recipe for N ranks: compares meshes, sharding rules, ZeRO stages, pipelines and micro-batches "
                 "by the simulated time of their plans (docs/auto-sharding.md)")
      ->type_name("N");
  app.add_option("--auto-recipe", flags.autoRecipe, "Write the recipe that --auto found, for --recipe")
      ->type_name("FILE.json");
  addTable(app, "--auto-table", flags.autoTable, "Print all candidates of --auto, and why each was rejected");
  app.add_option("--auto-evaluations", flags.autoEvaluations,
                 "Number of candidates that --auto compiles and simulates at most (default 200)")
      ->type_name("K")
      ->check(CLI::Range(1u, std::numeric_limits<unsigned>::max()));
  addRepeated(app, "--mesh", flags.meshes,
              "Sizes of the model's axes, e.g. data=4,model=2; other axes keep theirs; several --mesh make a plan "
              "each, and sgdrun runs the one for its number of ranks")
      ->type_name("AXIS=N,...");
  app.add_option("--bind", flags.bindings,
                 "Sizes that a PyTorch model leaves open (dynamic_shapes), e.g. batch=32,sequence=128 or tokens.0=32")
      ->type_name("NAME=N,...");
  app.add_option("--target", flags.compile.target,
                 "cpu (default), or cuda: and GPU architectures, e.g. cuda:sm_80,sm_90 (sm_80, sm_90, sm_100)")
      ->type_name("TARGET");
  app.add_option("--cpu", flags.compile.cpu, "native (default), x86-64-v3 or x86-64-v4")->type_name("CPU");
  app.add_option("--loss", flags.compile.loss,
                 "Result that is the loss, a floating-point scalar, e.g. \"result[1]['loss']\" or result[1].loss; by "
                 "default names and dataflow decide (docs/recipes.md)")
      ->type_name("NAME");
  app.add_option("--emit", flags.emit, "Print the IR of a level: graph, sharded, spmd, kernels or plan")
      ->type_name("LEVEL");
  app.add_option("--emit-request", flags.emitRequest,
                 "Write the compilation as data: the request, and the programs at the level of --emit (as imported "
                 "without it, before a search that passes over the level) with their source locations; sgd-opt "
                 "--replay continues from there to the same artifact")
      ->type_name("FILE.mlir");
  addTable(app, "--report", flags.report, "Print bytes sent, memory, flops and counts, per rank and step");
  addTable(app, "--explain", flags.explain,
           "Print what is sent and why, by parameter and scope, the largest first; with =all each collective");
  app.add_option("--html", flags.html,
                 "Write one HTML file with pictures: timeline, memory, collectives, roofline, shardings (docs/report.md)")
      ->type_name("FILE");
  app.add_option(
         "--memory-limit", flags.memoryLimit,
         "Peak memory per rank, e.g. 80GiB: a program that needs more recomputes values and gathers parameters again, "
         "as few as possible (--report and --explain list them), or is refused with the smallest SIZE that can be met")
      ->type_name("SIZE");
  app.add_option("--micro", flags.micro,
                 "Compute the batch in N micro-batches, one after the other in each step: same outputs, less memory "
                 "for activations")
      ->type_name("N")
      ->check(CLI::Range(int64_t{1}, kMostParts));
  app.add_flag("--micro-refuse", flags.compile.refuseSplit,
               "With --micro, refuse ops that need the memory of the full batch, by source line");
  app.add_option(
         "--topology", flags.compile.topology,
         "Devices and links for the cost model: host, a100, h100, b200 or a file; by default those of the target")
      ->type_name("FILE.json");
  app.add_option("--tile-scratch", flags.tileScratch,
                 "Scratch memory per thread for matmuls computed in tiles with a kernel between them, such as "
                 "attention (default 640KiB); 0 disables tiles")
      ->type_name("SIZE");
  app.add_option("--unroll", flags.compile.unrolledOps,
                 "Unroll loops with a known number of iterations that become at most OPS operations (default 4000), or "
                 "a quarter of that for more than 8 iterations; 0 disables unrolling")
      ->type_name("OPS")
      ->check(CLI::Range(int64_t{0}, std::numeric_limits<int64_t>::max()));
  app.add_option("--shard-updates", flags.shardUpdates,
                 "auto (default): shard updates of replicated state over ranks if that is estimated to be faster and "
                 "sends no more bytes; never: every rank updates all of it")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "never"}));
  app.add_option("--constraints", flags.constraints,
                 "keep (default): intermediate values are sharded as the text constrains them; weigh: drop these "
                 "constraints if the program then sends less")
      ->type_name("HOW")
      ->check(CLI::IsMember({"keep", "weigh"}));
  app.add_flag("--allow-tf32", flags.compile.allowTf32,
               "Let GPUs round the operands of f32 matmuls and convolutions of precision DEFAULT to TF32 (10 bits of "
               "mantissa), as JAX and PyTorch may; no effect on CPUs");
  app.add_option("--cache", flags.cache,
                 "Cache compilations in this folder; creates it if missing; processes may share it")
      ->type_name("DIR");
  app.add_option("--cache-size", flags.cacheSize,
                 "Size above which --cache deletes the least recently used entries (default 2GiB)")
      ->type_name("SIZE");
  app.add_option("--weights", flags.weights, "Write the weights in MODEL to a file, for sgdrun --init")
      ->type_name("FILE.safetensors");
  app.add_option("--list-ops", flags.listOps, "Print the ops that a frontend imports (stablehlo or torch), and exit")
      ->type_name("FRONTEND");
  app.add_flag("--time", flags.time,
               "Print the time of each pass and stage on standard error; start-up is the CPU time before main");
  app.footer(kExamples);
}

}  // namespace

std::optional<::sgd::tools::Leave> mlir::sgd::readFlags(int argc, const char* const* argv, Flags& flags) {
  CLI::App app("Compiles train steps for synchronous execution on many ranks into one artifact.", "sgdc");
  addFlags(app, flags);
  std::optional<::sgd::tools::Leave> leave = ::sgd::tools::Parse(app, SGD_VERSION, argc, argv);
  if (!leave && flags.models.empty() && flags.listOps.empty())
    leave = ::sgd::tools::WrongUsage(app, "MODEL is required; expected a program, or NAME=MODEL for each of several");
  if (leave) return leave;
  // CLI11 leaves an option given without its optional value empty.
  for (auto [name, path] : {std::pair("--auto-table", &flags.autoTable), std::pair("--report", &flags.report),
                            std::pair("--explain", &flags.explain)})
    if (app.count(name) && path->empty()) *path = "-";
  return std::nullopt;
}
