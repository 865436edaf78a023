// Programs from their texts, as the stages of a compilation begin with them: on the graph level, with the mesh and the
// annotations that options and a recipe give them.
#ifndef SGD_COMPILER_LOAD_PROGRAMS_H
#define SGD_COMPILER_LOAD_PROGRAMS_H

#include <map>

#include "compiler/driver/diagnostics.h"
#include "compiler/driver/files.h"
#include "compiler/recipe/recipe.h"
#include "compiler/timings.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::sgd {

/// Programs whose texts are read, before any option of how they run.
struct ReadPrograms {
  std::vector<OwningOpRef<ModuleOp>> programs;
  bool isLocal = false;  ///< parts were written for one rank of the mesh (jax.shard_map)
};

/// What was read in one context already, by the only option that texts are read with: whether layers' loops are kept.
using KnownPrograms = std::map<bool, ReadPrograms>;

class ProgramLoader {
 public:
  /// All must outlive it. `options` hold what the recipe adds. Null are: `recipe` where there is none, `timings`, and
  /// `known` where nothing is kept.
  ProgramLoader(MLIRContext& context, ArrayRef<ProgramSource> sources, const CompileOptions& options,
                const Recipe* recipe, DiagnosticPrinter& printer, Timings* timings, KnownPrograms* known)
      : context(context),
        sources(sources),
        options(options),
        recipe(recipe),
        printer(printer),
        timings(timings),
        known(known) {}

  /// The texts, with what steps carry decided, then what the recipe says about their annotations.
  FailureOr<ReadPrograms> read();

  /// The same with the mesh, the annotations and the batch cut in time that options and recipe ask for. `topology` is
  /// what layers are split by, `isCutByRecipe` whether not --micro cuts the batch.
  FailureOr<std::vector<OwningOpRef<ModuleOp>>> load(StringRef topology, bool isCutByRecipe);

 private:
  LogicalResult readTexts();
  void takeKnown();
  LogicalResult checkOneLevel();
  LogicalResult checkStages();
  LogicalResult decideCarry(ModuleOp program);
  LogicalResult markLosses();
  LogicalResult keepUncommitted(ModuleOp program);
  LogicalResult expandManualComputations(ModuleOp program);
  LogicalResult resizeMeshes();
  FailureOr<unsigned> getWantedStages();
  LogicalResult splitLoopsOverLayers(StringRef topology);
  LogicalResult annotateByRecipe();
  void warnOfOneMicroBatch();
  LogicalResult cutBatchInTime(bool isCutByRecipe);

  MLIRContext& context;
  ArrayRef<ProgramSource> sources;
  const CompileOptions& options;
  const Recipe* recipe;
  DiagnosticPrinter& printer;
  Timings* timings;
  KnownPrograms* known;
  std::vector<OwningOpRef<ModuleOp>> programs;
  bool isLocal = false;
};

}  // namespace mlir::sgd

#endif
