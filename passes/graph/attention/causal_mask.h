// Masks that compare the number of a row with the number of a column.
#ifndef SGD_PASSES_GRAPH_ATTENTION_CAUSAL_MASK_H
#define SGD_PASSES_GRAPH_ATTENTION_CAUSAL_MASK_H

#include "passes/graph/attention/attention_scores.h"

namespace mlir::sgd {

/// Of a mask whose dimensions are `dims`: d where an element is `wanted` exactly in columns up to the row plus d. Reads
/// one comparison of sums of iotas and constants; nullopt for any other mask, which may still be of this form.
std::optional<int64_t> readDiagonal(Value mask, const ScoreDims& dims, int64_t row, int64_t column, bool wanted);

}  // namespace mlir::sgd

#endif
