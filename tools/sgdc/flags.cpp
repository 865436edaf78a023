// Parsing with CLI11, whose exceptions end here.
#include "tools/sgdc/flags.h"

#include <CLI/CLI.hpp>

namespace {

using namespace mlir::sgd;

constexpr const char* kExamples = R"(
MODEL is StableHLO text as jax.jit(f).lower(...).as_text() prints it, or text of this compiler's own graph level; - is standard input.
Several programs go into one artifact as NAME=MODEL; state is shared between them by argument names.

Examples:
  sgdc step.mlir -o step.sgda                        the mesh that the model names
  sgdc step.mlir -o step.sgda --mesh data=8          the same model on 8 ranks
  sgdc step.mlir -o step.sgda --target cuda:sm_90    kernels for GPUs; neither a GPU nor CUDA is needed
  sgdc train=step.mlir eval=eval.mlir -o m.sgda      two programs over the same parameters
  sgdc step.mlir --emit spmd                         what each rank will execute, as text; no artifact
  sgdc step.mlir -o step.sgda --report --explain     bytes, memory and the reason of each collective
)";

void addFlags(CLI::App& app, Flags& flags) {
  app.add_option("MODEL", flags.models, "MODEL or NAME=MODEL ...")->required();
  app.add_option("-o", flags.output, "Artifact to write (.sgda)")->type_name("FILE");
  app.add_option("--recipe", flags.recipe,
                 "How to shard the model without touching its text: mesh, rules by names and scopes, batch, ZeRO stage "
                 "(docs/recipes.md)")
      ->type_name("FILE.json");
  app.add_option("--mesh", flags.mesh, "Sizes for the model's own axes, e.g. data=4,model=2; others keep the model's")
      ->type_name("AXIS=N,...");
  app.add_option("--target", flags.compile.target,
                 "cpu (default), or cuda: and GPU architectures, e.g. cuda:sm_80,sm_90 (sm_80, sm_90, sm_100)")
      ->type_name("TARGET");
  app.add_option("--cpu", flags.compile.cpu, "native (default), x86-64-v3 or x86-64-v4")->type_name("CPU");
  app.add_option("--emit", flags.emit, "Print a level of IR: graph, sharded, spmd, kernels or plan")
      ->type_name("LEVEL");
  app.add_option("--report", flags.report, "Bytes sent, memory and counts, per rank and step; as JSON with =FILE")
      ->expected(0, 1)
      ->default_str("-")
      ->type_name("FILE.json");
  app.add_option("--explain", flags.explain, "Why each collective is there; as JSON with =FILE")
      ->expected(0, 1)
      ->default_str("-")
      ->type_name("FILE.json");
  app.add_option("--memory-limit", flags.memoryLimit, "Refuse programs whose peak per rank is above, e.g. 80GiB")
      ->type_name("SIZE");
  app.add_option("--topology", flags.compile.topologyFile,
                 "Links between ranks for the cost model: host, a100, h100, b200 or a file; by "
                 "default what is sent is decided for host, and times are those of the target")
      ->type_name("FILE.json");
  app.add_option(
         "--tile-scratch", flags.tileScratch,
         "Scratch memory per thread that products around a kernel, such as attention, should take when they are "
         "computed in tiles (default 640KiB); 0: they are not")
      ->type_name("SIZE");
  app.add_option("--unroll", flags.compile.unrolledOps,
                 "Loops with a known number of iterations are unrolled when they become at most so many operations "
                 "(default 4000), a quarter of that with more than 8 iterations; 0: none is")
      ->type_name("OPS")
      ->check(CLI::NonNegativeNumber);
  app.add_option(
         "--shard-updates", flags.shardUpdates,
         "auto (default): ranks that would update the same state each update a shard of it where that is faster "
         "and sends no more; never: each updates all")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "never"}));
  app.add_flag("--allow-tf32", flags.compile.allowTf32,
               "Let GPUs round the operands of f32 products whose precision is DEFAULT to TF32 (10 bits of mantissa), "
               "as JAX and PyTorch may; CPUs do not");
  app.add_option("--cache", flags.cache,
                 "Folder in which compilations are kept and looked up; made if missing, shared safely")
      ->type_name("DIR");
  app.add_option("--cache-size", flags.cacheSize,
                 "Size at which --cache deletes what was used longest ago (default 2GiB)")
      ->type_name("SIZE");
  app.add_flag("--time", flags.time,
               "Print on standard error where the time went; start-up is the processor time before main");
  app.footer(kExamples);
  app.set_version_flag("--version", "sgdc " SGD_VERSION);
}

}  // namespace

std::optional<int> mlir::sgd::readFlags(int argc, char** argv, Flags& flags) {
  CLI::App app("Compiles train steps for synchronous execution on many ranks into one artifact.", "sgdc");
  addFlags(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  // CLI11 leaves an option given without its optional value empty.
  if (app.count("--report") && flags.report.empty()) flags.report = "-";
  if (app.count("--explain") && flags.explain.empty()) flags.explain = "-";
  return std::nullopt;
}
