// The facts of a train step that a search needs: its batch, its parameters, and which of their dimensions may be
// sharded together.
#ifndef SGD_COMPILER_AUTO_SHARDING_STEP_FACTS_H
#define SGD_COMPILER_AUTO_SHARDING_STEP_FACTS_H

#include <string>

#include "compiler/auto_sharding/logical_dims.h"
#include "compiler/driver/driver.h"

namespace mlir::sgd {

/// Logical dimensions that are sharded alike: those of all layers. No argument has two of them.
struct DimGroup {
  std::vector<ArgumentDim> members;  ///< of parameters and inputs, ascending
  int64_t size = 0;                  ///< how many shards there may be
  uint64_t bytes = 0;                ///< of parameters that have it
  std::string label;                 ///< the largest member for people: `params.h*.mlp.w1:1`

  bool hasParameters() const { return bytes > 0; }
};

/// Names of fields of a recipe, each with its JSON.
using RecipeFields = std::vector<std::pair<std::string, std::string>>;

/// The fields of `options.recipe`, empty without a recipe. Fails with an error where there are fields that --auto
/// chooses.
llvm::Expected<RecipeFields> readGivenFields(const CompileOptions& options);

struct StepFacts {
  /// As globs of recipes match them: by argument, then arguments of other programs that the step has not.
  std::vector<std::string> names;
  std::vector<std::vector<int64_t>> shapes;  ///< likewise
  std::vector<unsigned> batch;               ///< inputs whose rows are the batch
  std::vector<unsigned> others;              ///< inputs with rows that are not
  int64_t rows = 0;                          ///< of the batch
  std::vector<DimGroup> groups;              ///< those of most bytes first, then those of inputs alone
  std::vector<MeshAxisSize> ownMesh;         ///< that the text names; empty: none
  bool isAnnotated = false;                  ///< the text has a mesh, without which there are no shardings
  RecipeFields given;                        ///< of the user's recipe; each candidate has them
};

/// `name` with a `*` for each number in it.
std::string generalizeName(llvm::StringRef name);

/// The first of several programs that carries state counts. Fails with an error where there is none, and where it is
/// fed no batch.
FailureOr<StepFacts> findStepFacts(CompileSession& session, const CompileOptions& options, llvm::raw_ostream& errors);

}  // namespace mlir::sgd

#endif
