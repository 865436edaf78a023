// Ranges, known at compile time, of the elements of a tensor in a box: masks made of iotas are true or false
// there.
#ifndef SGD_PASSES_GRAPH_ATTENTION_INDEX_RANGES_H
#define SGD_PASSES_GRAPH_ATTENTION_INDEX_RANGES_H

#include <optional>

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// Indices [begin, begin + size) of a dimension.
struct IndexRange {
  int64_t begin = 0;
  int64_t size = 0;
};

/// One range per dimension.
using IndexBox = SmallVector<IndexRange, 4>;

/// All of a tensor.
IndexBox getWholeBox(Value tensor);

/// Whether the elements of the boolean tensor in `box` are all true or all false; nullopt when it is not known. Follows
/// index maps, arithmetic and comparisons of iotas and constants, through clusters.
std::optional<bool> getTruth(Value tensor, const IndexBox& box);

}  // namespace mlir::sgd

#endif
