// A recipe: how to shard a model without touching its text. Written by hand as JSON; docs/recipes.md explains each
// field.
#ifndef SGD_COMPILER_RECIPE_RECIPE_H
#define SGD_COMPILER_RECIPE_RECIPE_H

#include <optional>
#include <string>
#include <vector>

#include "compiler/options.h"
#include "compiler/recipe/expectation.h"
#include "passes/graph/training/training_settings.h"
#include "passes/sharding/context/context_form.h"
#include "passes/spmd/compress/compression_settings.h"

namespace mlir::sgd {

/// One dimension of a rule's sharding: `null` is closed without axes, `"?"` open, `"x"` and `["x", "y"]` closed over
/// these axes, major to minor.
struct RecipeDim {
  std::vector<std::string> axes;
  bool isOpen = false;
};

/// A rule for tensors whose names match `tensor`, or for values that leave a scope that matches `scope`.
struct RecipeRule {
  enum class Kind {
    Sharding,   ///< `dims`
    Replicate,  ///< every rank holds the whole tensor, of any number of dimensions
    Batch       ///< `batchDim` holds the rows of an input
  };
  std::string path = {};                ///< the field that the rule is in messages, "rules[0]"
  std::string tensor = {}, scope = {};  ///< globs; one of them is empty
  Kind kind = Kind::Sharding;
  std::vector<RecipeDim> dims = {};
  std::optional<int64_t> batchDim = {};  ///< of Kind::Batch; nothing: the input has no rows
};

/// How reductions of gradients over an axis of the mesh are compressed.
struct RecipeCompression {
  std::string axis;
  CompressionSetting setting;
};

/// The stages of a pipeline: as many, balanced, or by what each one matches.
struct RecipeStages {
  unsigned count = 1;
  std::vector<std::string> matches;  ///< globs on names of parameters or on scopes; empty, or `count` of them
};

/// How the parameters that globs match are updated.
struct RecipeParameterGroup {
  std::vector<std::string> globs;  ///< on names of arguments
  OptimizerSettings optimizer;
};

/// The rows that statistics of a batch norm cover: all, or those of one rank in a micro-batch.
struct RecipeBatchNorm {
  bool isPerRank = false;
  std::vector<std::string>
      scopes;  ///< globs on scopes whose sums over rows are statistics, besides those that are known
};

/// How the compiler makes training programs of a forward model.
struct RecipeTraining {
  std::string text;  ///< the field's JSON: equal texts make equal programs
  OptimizerSettings optimizer = getDefaults(OptimizerKind::Sgd);
  std::vector<RecipeParameterGroup> groups;  ///< the first that matches a parameter decides, before `optimizer`
  RateScheduleSettings schedule;
  LossSettings loss;
  std::vector<MetricKind> metrics;
  std::optional<double> clipNorm, clipValue, average;
  std::vector<std::string> parameters, noDecay;  ///< globs on names of arguments
  RecipeBatchNorm batchNorm;
};

/// Types of the programs that `train` makes.
struct RecipePrecision {
  std::string text;  ///< as that of `train`
  PrecisionSettings settings;
  std::vector<std::string> wideScopes;  ///< globs on scopes that stay in f32
};

struct Recipe {
  std::string fileName;            ///< what messages call it
  bool keepsAnnotations = true;    ///< false: the mesh and the shardings that the text has are left out first
  std::vector<MeshAxisSize> mesh;  ///< in the order of the file; empty: the model's own
  std::vector<std::string> batch;  ///< axes over which the batch is sharded, major to minor
  std::vector<RecipeRule> rules;   ///< of `replicate`, then of `rules`: the first one that matches a tensor decides
  int zero = 0;                    ///< 0 to 3: what is sharded over `batch` besides it
  std::vector<RecipeCompression> compress;
  std::optional<MeshAxisSize> sequential;  ///< an axis of iterations, over which the batch is cut
  bool sumsInOwnType = false;              ///< PlanOptions::sumsInOwnType
  bool exchangesInLoops = false;           ///< PlanOptions::exchangesInLoops
  std::string loss;                        ///< CompileOptions::loss
  std::optional<RecipeStages> stages;
  std::string schedule;                  ///< of the stages, as getScheduleChoices reads it
  std::optional<ContextForm> attention;  ///< of all attention whose positions are sharded; by default cost decides
  std::optional<uint64_t> memoryLimit;   ///< bytes per rank
  std::string offload;                   ///< PlanOptions::offload
  std::optional<uint64_t> bucketBytes;   ///< largest bucket of merged collectives
  std::optional<RecipeTraining> train;
  RecipePrecision precision;  ///< of `train`
  std::vector<Expectation> expectations;
};

/// Reads a recipe. The error is one line that names the field (`rules[1].sharding`), what is there and what
/// is expected; for unknown fields and axes, the nearest known name.
llvm::Expected<Recipe> parseRecipe(llvm::StringRef json, llvm::StringRef fileName);

/// The one of `names` that is spelled most like `name`; empty where none is like it.
llvm::StringRef findNearestName(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> names);

}  // namespace mlir::sgd

#endif
