// What passes know of how a target's library computes attention.
#ifndef SGD_PASSES_LIBRARY_ATTENTION_MODEL_H
#define SGD_PASSES_LIBRARY_ATTENTION_MODEL_H

#include <functional>
#include <optional>

#include "mlir/IR/Types.h"

namespace mlir::sgd {

/// One call, as libraries see it: tensors [batch, heads, rows, depth].
struct AttentionCall {
  Type element;  ///< f16 or bf16
  int64_t batch = 1, heads = 1, keyHeads = 1;
  int64_t rows = 0, columns = 0, depth = 0, valueDepth = 0;
  Type biasElement;  ///< null: there is no bias
  std::optional<int64_t> diagonal;
  bool isGradient = false;
};

/// How a call is cut: so many batches and heads at once, with a workspace of so many bytes, used again for each part.
struct AttentionParts {
  int64_t batch = 1, heads = 1;
  int64_t workspaceBytes = 0;
};

struct AttentionModel {
  /// How the target's library computes it; nullopt: it does not. Null: there is no library.
  std::function<std::optional<AttentionParts>(const AttentionCall&)> getParts;
};

}  // namespace mlir::sgd

#endif
