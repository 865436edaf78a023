// Integer scalars that are known for every rank at compile time: the arithmetic by which programs get from the number
// of a rank to its index along one axis.
#ifndef SGD_PASSES_SHARDING_MANUAL_RANK_ARITHMETIC_H
#define SGD_PASSES_SHARDING_MANUAL_RANK_ARITHMETIC_H

#include "dialects/spmd/spmd_dialect.h"
#include "passes/sharding/manual/batched.h"

namespace mlir::sgd {

/// A scalar's value on each rank of the mesh, ranks numbered row-major.
using RankValues = SmallVector<APInt>;

class RankArithmetic {
 public:
  explicit RankArithmetic(const CutMesh& cut) : cut(cut), mesh(cut.get()) {}

  /// True when `op` is a scalar that is now known for every rank: the rank's number, a constant, or integer arithmetic
  /// on known scalars.
  bool learn(Operation* op);

  bool isKnown(Value original) const { return known.contains(original); }
  /// Says that `to`, which a loop or branch sees, is always what `from`, a known value outside of it, is.
  void share(Value from, Value to) { known[to] = RankValues(known.at(from)); }

  /// The axes along which a known value really differs.
  AxisIndices getAxes(Value original) const;
  /// The known value as a constant, batched over these axes.
  Batched materialise(Location loc, Value original, BatchBuilder& batch) const;

 private:
  const CutMesh& cut;
  MeshAttr mesh;  // the cut one
  DenseMap<Value, RankValues> known;
};

}  // namespace mlir::sgd

#endif
