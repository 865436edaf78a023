// sgdc: flags and printing around the compiler library. Exit codes: 0 done, 1 the input is at fault, 2 wrong usage.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <new>

#include "compiler/driver/compile_cache.h"
#include "compiler/target/target.h"
#include "llvm/Support/ErrorHandling.h"

namespace {

using mlir::failed;
using mlir::FailureOr;
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

struct Flags {
  std::vector<std::string> models;
  std::string output, recipe, mesh, emit, memoryLimit, tileScratch, cache, cacheSize = "2GiB", shardUpdates = "auto";
  uint64_t cacheBytes = 0;
  std::string report, explain;  // "-" prints to standard output
  CompileOptions compile;
  bool time = false;
};

int usage(const std::string& message) {
  std::cerr << "sgdc: " << message << "\nRun with --help for more information.\n";
  return 2;
}

/// Takes the value out of `expected` or puts its message into `error`.
template <typename T, typename U>
bool take(llvm::Expected<T> expected, U& value, std::string& error) {
  if (!expected) {
    error = llvm::toString(expected.takeError());
    return false;
  }
  value = std::move(*expected);
  return true;
}

bool parseValues(Flags& flags, std::string& error) {
  if (!flags.mesh.empty() && !take(parseMesh(flags.mesh), flags.compile.mesh, error)) return false;
  if (!flags.emit.empty() && !take(parseEmitLevel(flags.emit), flags.compile.emit, error)) return false;
  if (!flags.memoryLimit.empty() && !take(parseByteSize(flags.memoryLimit), flags.compile.memoryLimit, error))
    return false;
  if (!flags.tileScratch.empty() && !take(parseByteSize(flags.tileScratch), flags.compile.tileScratch, error))
    return false;
  if (!take(parseByteSize(flags.cacheSize), flags.cacheBytes, error)) return false;
  llvm::Error wrong = checkCpu(flags.compile.cpu);
  if (!wrong) wrong = Target::create(flags.compile).takeError();
  if (wrong) {
    error = llvm::toString(std::move(wrong));
    return false;
  }
  flags.compile.shardUpdates = flags.shardUpdates == "auto";
  flags.compile.writeArtifact = !flags.output.empty() || !flags.report.empty() || (flags.emit.empty());
  if (flags.output.empty() && flags.emit.empty() && flags.report.empty() && flags.explain.empty()) {
    error = "nothing to do: give -o FILE, --emit LEVEL, --report or --explain";
    return false;
  }
  return true;
}

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

/// Prints to standard output for "-", writes JSON to a file else.
template <typename T>
bool deliver(const T& value, const std::string& path) {
  if (path.empty()) return true;
  if (path == "-") {
    value.print(llvm::outs());
    return true;
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << llvm::formatv("{0:2}", value.toJson()) << "\n";
  return succeeded(writeFile(path, text, llvm::errs()));
}

FailureOr<std::vector<ProgramSource>> read(const Flags& flags, Timings* timings) {
  Timings::Scope scope(timings, "read");
  return readSources(flags.models, llvm::errs());
}

int run(const Flags& flags, Timings* timings) {
  auto sources = read(flags, timings);
  if (failed(sources)) return 1;
  CompileOptions options = flags.compile;
  if (!flags.recipe.empty() && failed(readRecipeFile(flags.recipe, options, llvm::errs()))) return 1;
  auto compilation = flags.cache.empty()
                         ? compile(*sources, options, llvm::errs(), timings)
                         : compileCached(*sources, options, flags.cache, flags.cacheBytes, llvm::errs(), timings);
  if (failed(compilation)) return 1;
  Timings::Scope scope(timings, "write");
  llvm::outs() << compilation->emitted;
  if (!deliver(compilation->report, flags.report) || !deliver(compilation->explanation, flags.explain)) return 1;
  if (!flags.output.empty() && failed(writeFile(flags.output, compilation->artifact, llvm::errs()))) return 1;
  return 0;
}

[[noreturn]] void endWithoutMemory() {
  // Nothing that allocates.
  constexpr char text[] = "sgdc: error: no memory for this compilation; give it more (ulimit -v, cgroups)\n";
  if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0) std::_Exit(1);
  std::_Exit(1);
}

/// Makes what else would end this process by a signal an error: writing a file that may not grow further, writing to a
/// reader that has gone, and memory that cannot be had.
void endByErrors() {
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  std::set_new_handler(endWithoutMemory);
  llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { endWithoutMemory(); });
}

}  // namespace

int main(int argc, char** argv) {
  double startUp = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  endByErrors();
  CLI::App app("Compiles train steps for synchronous execution on many ranks into one artifact.", "sgdc");
  Flags flags;
  addFlags(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  // CLI11 leaves an option given without its optional value empty.
  if (app.count("--report") && flags.report.empty()) flags.report = "-";
  if (app.count("--explain") && flags.explain.empty()) flags.explain = "-";
  std::string error;
  if (!parseValues(flags, error)) return usage(error);
  Timings timings;
  timings.add("start-up", startUp);
  int code = run(flags, flags.time ? &timings : nullptr);
  if (flags.time) timings.print(llvm::errs());
  llvm::outs().flush();
  if (llvm::outs().has_error()) {
    llvm::errs() << "sgdc: error: cannot write to standard output: " << llvm::outs().error().message() << "\n";
    code = 1;
  }
  // Nothing that was opened needs its destructor: skip the teardown of the compiler's libraries.
  std::_Exit(code);
}
