// A language model by numbers alone, as a training step that can be compiled.
#ifndef SGD_COMPILER_MODELS_TRANSFORMER_H
#define SGD_COMPILER_MODELS_TRANSFORMER_H

#include <cstdint>
#include <string>

#include "llvm/Support/Error.h"

namespace mlir::sgd {

enum class Recompute : uint8_t {
  None,
  Selective,  ///< what attention computes between its matmuls with parameters
  Full,       ///< layers from their inputs
};

/// A GPT: blocks of causal attention and of two matmuls with GELU, normalized before, with tied embeddings and learned
/// positions; Adam. Parameters and matmuls are of `dtype`, and where that is not f32, parameters are rounded from f32
/// ones that are the optimizer's state with the moments.
struct Transformer {
  int64_t layers = 0, hidden = 0, heads = 0, sequence = 0, vocabulary = 0;
  int64_t globalBatch = 0;  ///< sequences of a step
  int64_t microBatch = 1;   ///< sequences of a data-parallel rank at a time
  int64_t tensor = 1, pipeline = 1, data = 1;
  int64_t context = 1;  ///< ranks that share the positions of a sequence
  int64_t zero = 0;
  std::string schedule = "1f1b";
  Recompute recompute = Recompute::None;
  std::string dtype = "bf16";
  std::string gradients = "bf16";  ///< in which gradients of matrices are summed up and reduced: f32, or `dtype`

  /// Parts of the batch that a rank computes one after the other.
  int64_t getParts() const { return globalBatch / (data * microBatch); }
  /// Operations of a step, of all ranks together 72 B s l h^2 (1 + s/6h + V/12lh), and 96 where layers are computed
  /// again (Narayanan et al., 2021, appendix).
  double getFlopsPerRank() const;
};

/// Reads the JSON form (docs/simulation.md). Errors name the field of `name` that is missing, unknown or out of range.
llvm::Expected<Transformer> parseTransformer(llvm::StringRef json, llvm::StringRef name);

/// The step for one device, as StableHLO.
std::string writeStep(const Transformer& model);

/// How it is sharded, as sgdc's `--recipe`.
std::string writeRecipe(const Transformer& model);

}  // namespace mlir::sgd

#endif
