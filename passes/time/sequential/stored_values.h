// Values of one slot that are stored for a later slot of the same stage, and values recomputed there. The IR is only
// read.
#ifndef SGD_PASSES_TIME_SEQUENTIAL_STORED_VALUES_H
#define SGD_PASSES_TIME_SEQUENTIAL_STORED_VALUES_H

#include "dialects/sgd/sgd_dialect.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::sgd {

struct StoredValues {
  llvm::SetVector<Value> stored;
  llvm::SetVector<Operation*> repeated;  ///< all that `stored` and what is there are enough for
};

struct SlotReads {
  ArrayRef<Value> values;                   ///< that the later slot reads
  llvm::function_ref<bool(Value)> isThere;  ///< whether it has a value anyway
  /// Bytes that storing a value counts as: its own, or fewer where other slots have it stored.
  llvm::function_ref<int64_t(Value)> getStoreCost;
  /// The cost of running an op again, in stored bytes; nothing if it must not run again.
  llvm::function_ref<std::optional<int64_t>(Operation*)> getRepeatCost;
};

/// The cheapest values to store for the operands of the later slot: a minimum cut between ops that cannot run
/// again and these operands. Of equal choices, one that recomputes less. With z = dot(x, w) and a backward pass that
/// reads z, tanh(z) and 1 - tanh(z)^2, only z is stored; of attention, its queries, keys and values rather than
/// weights.
StoredValues chooseStored(const SlotReads& reads);

}  // namespace mlir::sgd

#endif
