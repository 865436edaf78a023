// What is kept of one slot's values for a later one of the same stage, and what is computed there again. The IR is only
// read.
#ifndef SGD_PASSES_STAGES_STORED_VALUES_H
#define SGD_PASSES_STAGES_STORED_VALUES_H

#include "dialects/sgd/sgd_dialect.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::sgd {

struct StoredValues {
  llvm::SetVector<Value> stored;
  llvm::SetVector<Operation*> repeated;  ///< all that `stored` and what is there are enough for
};

struct SlotReads {
  ArrayRef<Value> values;                          ///< that the later slot reads
  llvm::function_ref<bool(Value)> isThere;         ///< whether it has a value anyway
  llvm::function_ref<bool(Value)> isStored;        ///< whether a value is stored anyway
  llvm::function_ref<bool(Operation*)> canRepeat;  ///< whether it may run an op again
};

/// The fewest bytes from which the later slot can compute what it reads: a minimum cut between what cannot be run again
/// and what is read. Running an op again counts as a part of what it gives: kernels compute it as they read its
/// operands. Of equal choices, the one that runs less again. With z = dot(x, w) and a backward pass that reads z,
/// tanh(z) and 1 - tanh(z)^2, only z is stored.
StoredValues chooseStored(const SlotReads& reads);

}  // namespace mlir::sgd

#endif
