// Integers that depend on nothing but their index along one dimension, evaluated at compile time.
#ifndef SGD_PASSES_SHARDING_PERMUTATION_INDEX_FUNCTION_H
#define SGD_PASSES_SHARDING_PERMUTATION_INDEX_FUNCTION_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// A dimension of a value.
struct ValueDim {
  Value value;
  int64_t dim;
};

/// The dimension of a reshape's operand that is `dim` of its result: as many elements before it, of the same size.
std::optional<int64_t> getReshapedDim(RankedTensorType from, RankedTensorType to, int64_t dim);

class IndexFunctions {
 public:
  /// Lets `value` stand for a vector whose element i is i.
  void addIdentity(Value value) { identities.insert(value); }
  /// Lets `value` depend on its index along `dim` as `source` does on its own.
  void addAlias(Value value, int64_t dim, ValueDim source) { aliases[value] = {dim, source}; }

  /// Calls `check` with each index along `of.dim` and the element there. False where elements depend on anything else,
  /// or `check` is false.
  bool forEach(ValueDim of, llvm::function_ref<bool(int64_t index, int64_t element)> check) const;

  /// Whether each element is its index.
  bool isIdentity(ValueDim of) const {
    return forEach(of, [](int64_t index, int64_t element) { return index == element; });
  }
  bool isKnown(ValueDim of) const;

 private:
  using Elements = SmallVector<int64_t, 0>;
  using Memo = DenseMap<std::pair<Value, int64_t>, std::optional<Elements>>;
  struct Chunk {
    int64_t begin, size;
  };
  struct Alias {
    int64_t dim;
    ValueDim source;
  };

  std::optional<Elements> evaluate(ValueDim of, Chunk chunk, Memo& memo) const;
  std::optional<Elements> compute(ValueDim of, Chunk chunk, Memo& memo) const;

  DenseSet<Value> identities;
  DenseMap<Value, Alias> aliases;
};

}  // namespace mlir::sgd

#endif
