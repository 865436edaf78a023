// Flags that exclude each other, and parsers of the compiler library.
#include "tools/sgdc/values.h"

#include "compiler/auto_sharding/auto_sharding.h"
#include "compiler/recipe/built_in.h"
#include "compiler/target/target.h"

using namespace mlir::sgd;

namespace {

/// Takes the bytes that `text` says, if there is any, or puts a message that names `flag` into `error`.
template <typename T>
bool takeBytes(const std::string& flag, const std::string& text, T& value, std::string& error) {
  if (text.empty() || take(parseByteSize(text), value, error)) return true;
  error = flag + ": " + error;
  return false;
}

/// Checks the flags that go with --auto, and those that exclude it.
bool checkAuto(const Flags& flags, std::string& error) {
  if (!flags.autoRanks) {
    bool isAlone = !flags.autoRecipe.empty() || !flags.autoTable.empty() || flags.autoEvaluations > 0;
    if (isAlone) error = "--auto-recipe, --auto-table and --auto-evaluations are given without --auto N; add it";
    return !isAlone;
  }
  if (*flags.autoRanks < 1 || *flags.autoRanks > kMostAutoRanks)
    error = "--auto is " + std::to_string(*flags.autoRanks) + "; expected a number of ranks, 1 to " +
            std::to_string(kMostAutoRanks);
  else if (flags.recipes.size() > 1 || !flags.meshes.empty() || flags.micro > 0)
    error =
        "--auto finds mesh, recipe and parts of the batch, and one is given; expected --auto without --mesh and "
        "--micro, and at most one --recipe, with the field 'train'; leave the others out";
  return error.empty();
}

}  // namespace

bool mlir::sgd::readValues(Flags& flags, std::vector<PlanRequest>& plans, std::string& error) {
  if (!flags.batch.empty() && !flags.recipes.empty()) {
    error =
        "--batch is short for a recipe, and --recipe gives one; expected one of them; name the axes in its field "
        "'batch'";
    return false;
  }
  if (!flags.batch.empty()) flags.recipes = {getBatchRecipe(flags.batch)};
  if (flags.micro > 0) flags.compile.sequential = MeshAxisSize{"micro", flags.micro};
  if (!flags.bindings.empty() && !take(parseBindings(flags.bindings), flags.compile.bindings, error)) return false;
  if (!flags.emit.empty()) {
    if (llvm::Error unknown = parseEmit(flags.emit, flags.compile)) {
      error = llvm::toString(std::move(unknown));
      return false;
    }
  }
  if (!takeBytes("--memory-limit", flags.memoryLimit, flags.compile.memoryLimit, error) ||
      !takeBytes("--tile-scratch", flags.tileScratch, flags.compile.tileScratch, error) ||
      !takeBytes("--cache-size", flags.cacheSize, flags.cacheBytes, error))
    return false;
  llvm::Error wrong = checkCpu(flags.compile.cpu);
  if (!wrong) wrong = Target::create(flags.compile).takeError();
  if (wrong) {
    error = llvm::toString(std::move(wrong));
    return false;
  }
  flags.compile.weighConstraints = flags.constraints == "weigh";
  flags.compile.shardUpdates = flags.shardUpdates == "auto";
  flags.compile.emitsRequest = !flags.emitRequest.empty();
  const bool printsAlone = !flags.emit.empty() || (flags.compile.emitsRequest && flags.explain.empty());
  flags.compile.writeArtifact = !flags.output.empty() || !flags.report.empty() || !flags.html.empty() || !printsAlone;
  if (!checkAuto(flags, error) || !take(getPlans(flags.compile, flags.meshes, flags.recipes), plans, error))
    return false;
  if (plans.size() > 1 && flags.compile.emitsRequest) {
    error = "--emit-request writes one compilation, and there are " + std::to_string(plans.size()) +
            " plans; expected at most one --mesh and one --recipe; write a request for each plan";
    return false;
  }
  return true;
}
