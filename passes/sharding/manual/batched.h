// Values of a manual computation as values of the graph around it: what ranks hold each for itself is batched, as vmap
// does, along one leading dimension per mesh axis over which it differs.
#ifndef SGD_PASSES_SHARDING_MANUAL_BATCHED_H
#define SGD_PASSES_SHARDING_MANUAL_BATCHED_H

#include "passes/sharding/manual/cut_mesh.h"

namespace mlir::sgd {

/// Axes of the cut mesh by index, ascending.
using AxisIndices = SmallVector<unsigned, 2>;

/// A value of the body, of type [shape], as [sizes of axes..., shape]: element [i, ...] is what the ranks with index i
/// along the axes hold. Without axes all ranks hold the same.
struct Batched {
  Value value;
  AxisIndices axes;

  bool isUniform() const { return axes.empty(); }
  RankedTensorType getType() const { return cast<RankedTensorType>(value.getType()); }
  /// The shape that each rank sees.
  ArrayRef<int64_t> getShape() const { return getType().getShape().drop_front(axes.size()); }
};

/// All axes of either, ascending.
AxisIndices unite(ArrayRef<unsigned> a, ArrayRef<unsigned> b);
/// Axes of `a` that `b` has not.
AxisIndices without(ArrayRef<unsigned> a, ArrayRef<unsigned> b);

/// Builds ops on batched values.
class BatchBuilder {
 public:
  BatchBuilder(OpBuilder& builder, const CutMesh& mesh) : builder(builder), mesh(mesh) {}

  OpBuilder& getBuilder() { return builder; }
  int64_t getSize(unsigned axis) const { return mesh.get().getAxes()[axis].getSize(); }
  /// The dimension of a sharding that is cut over the axis, and over no other.
  DimShardingAttr getDimSharding(unsigned axis) const;
  SmallVector<int64_t> getSizes(ArrayRef<unsigned> axes) const;
  int64_t getNumRanks(ArrayRef<unsigned> axes) const;
  /// Axes of the list, in its order.
  SmallVector<unsigned> getAxes(AxisListAttr list) const { return mesh.find(list.getAxes()); }

  /// The type of a body's value of type `type` when it differs over `axes`.
  RankedTensorType getBatchedType(ArrayRef<unsigned> axes, Type type) const;

  /// The same value with at least `axes`; those that it lacks are repeated.
  Batched spread(Location loc, const Batched& batched, ArrayRef<unsigned> axes);
  /// Leading dimensions of `axes` moved, in this order, in front of dimension `dim` of what each rank sees, where the
  /// others remain; the value may lack some. The result's axes are the others, its type has the moved ones as
  /// dimensions.
  Batched bringIn(Location loc, const Batched& batched, ArrayRef<unsigned> axes, int64_t dim);
  /// The reverse: `axes.size()` dimensions from `dim` on of what each rank sees become leading ones.
  Batched takeOut(Location loc, const Batched& batched, ArrayRef<unsigned> axes, int64_t dim);

  /// Reshapes each rank's value, to as many elements.
  Batched reshape(Location loc, const Batched& batched, ArrayRef<int64_t> shape);
  Value transpose(Location loc, Value value, ArrayRef<int64_t> permutation);

 private:
  OpBuilder& builder;
  const CutMesh& mesh;
};

}  // namespace mlir::sgd

#endif
