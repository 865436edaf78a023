// Integer scalars that are known for every rank at compile time: the arithmetic by which programs get from the number
// of a rank to its index along one axis.
#ifndef SGD_PASSES_MANUAL_RANK_ARITHMETIC_H
#define SGD_PASSES_MANUAL_RANK_ARITHMETIC_H

#include "dialects/spmd/spmd_dialect.h"
#include "passes/manual/stacked.h"

namespace mlir::sgd {

/// A scalar's value on each rank of the mesh, ranks numbered row-major.
using RankValues = SmallVector<APInt>;

class RankArithmetic {
 public:
  explicit RankArithmetic(const CutMesh& cut) : cut(cut), mesh(cut.get()) {}

  /// True when `op` is a scalar that is now known for every rank: the rank's number, a constant, or integer arithmetic
  /// on known scalars.
  bool learn(Operation* op);

  /// The known value as a constant, stacked over the axes along which it really differs. `original` must be a result of
  /// an op that was learnt.
  Stacked materialise(Location loc, Value original, StackBuilder& stack) const;

 private:
  const CutMesh& cut;
  MeshAttr mesh;  // the cut one
  DenseMap<Value, RankValues> known;
};

}  // namespace mlir::sgd

#endif
