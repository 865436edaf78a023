// What is kept of one slot's values for a later one of the same stage, and what is computed there again. The IR is only
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
  /// What running an op again counts as, in bytes that are stored; nothing where it must not run again.
  llvm::function_ref<std::optional<int64_t>(Operation*)> getRepeatCost;
};

/// What is cheapest to store so that the later slot can compute what it reads: a minimum cut between what cannot be run
/// again and what is read. Of equal choices, the one that runs less again. With z = dot(x, w) and a backward pass that
/// reads z, tanh(z) and 1 - tanh(z)^2, only z is stored; of attention, its queries, keys and values rather than
/// weights.
StoredValues chooseStored(const SlotReads& reads);

}  // namespace mlir::sgd

#endif
