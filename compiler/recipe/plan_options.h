// The options that plan a program: those of the user with what the recipe adds.
#ifndef SGD_COMPILER_RECIPE_PLAN_OPTIONS_H
#define SGD_COMPILER_RECIPE_PLAN_OPTIONS_H

#include "compiler/recipe/recipe.h"

namespace mlir::sgd {

struct PlanOptions : CompileOptions {
  bool keepsLayerLoops = false;         ///< sgd::ImportOptions::keepsLayerLoops
  std::string offload;                  ///< to the host, under a limit: never, states, activations; empty: by cost
  std::optional<uint64_t> bucketBytes;  ///< largest bucket of merged collectives; by default the cost model decides
  bool sumsInOwnType = false;           ///< over parts of a batch, of floats of 16 bits; else in f32
  bool exchangesInLoops = false;        ///< gathers and reductions to shards run in each part of a batch
  std::string attention;                ///< the form of sgd-shard-attention; empty: by cost
  bool isCutByRecipe = false;           ///< `sequential` is the recipe's
  bool isLimitedByRecipe = false;       ///< `memoryLimit` is the recipe's
};

/// `options` with the fields of `recipe`, which is null where there is none; flags of the user win.
PlanOptions getPlanOptions(const CompileOptions& options, const Recipe* recipe);

}  // namespace mlir::sgd

#endif
