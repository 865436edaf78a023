// One way to run a step on many ranks, as a search changes it and as a recipe says it.
#ifndef SGD_COMPILER_AUTO_SHARDING_CANDIDATE_H
#define SGD_COMPILER_AUTO_SHARDING_CANDIDATE_H

#include <optional>

#include "compiler/auto_sharding/search_mesh.h"
#include "compiler/auto_sharding/step_facts.h"

namespace mlir::sgd {

/// The axis that a group of dimensions is sharded over.
enum class GroupAxis : uint8_t { None, Data, Model };

struct Candidate {
  SearchMesh mesh;
  int zero = 0;
  int64_t micro = 1;
  std::string schedule;           ///< of stages; empty: the fastest of some, by simulation
  std::vector<GroupAxis> groups;  ///< by group of the facts
  /// Sizes of the text's own axes: its annotations are kept, and nothing else is said.
  std::optional<std::vector<MeshAxisSize>> asWritten;
  /// Written into the recipe: values are computed again where the step needs more. By default what it needs decides.
  std::optional<uint64_t> memoryLimit;

  bool shards(GroupAxis axis) const;
};

/// Whether it may be worth a look: axes have something to share, in parts of which none is mostly padding.
bool isSensible(const Candidate& candidate, const StepFacts& facts);

/// A few words: `data 4 x model 2, zero 3; model: params.h*.mlp.w1:1`.
std::string describe(const Candidate& candidate, const StepFacts& facts);

/// A sentence's part: `data parallelism over 4 ranks, with parameters, gradients and optimizer state sharded over them
/// (ZeRO 3), and tensor parallelism over 2 ranks (params.h*.mlp.w1 by dimension 1)`.
std::string describeInWords(const Candidate& candidate, const StepFacts& facts);

/// How much a recipe asks of its reader: 0 for data parallelism alone, and for a text's own annotations.
unsigned getComplexity(const Candidate& candidate);

/// The recipe's text, which is also what candidates are equal by. Rules have globs for layers where these match
/// nothing else.
std::string writeRecipe(const Candidate& candidate, const StepFacts& facts);

}  // namespace mlir::sgd

#endif
