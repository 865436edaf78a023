// The sequential axis in the shardings of tensors.
#ifndef SGD_PASSES_SHARDING_PROPAGATION_SEQUENTIAL_AXIS_H
#define SGD_PASSES_SHARDING_PROPAGATION_SEQUENTIAL_AXIS_H

#include "dialects/sgd/sequential.h"
#include "passes/sharding/propagation/mesh_axes.h"

namespace mlir::sgd {

/// How a tensor is over the sequential axis.
struct SequentialState {
  enum class Kind : uint8_t { Whole, Cut, Partial };
  Kind kind = Kind::Whole;
  unsigned dim = 0;                         // Cut: the dimension
  ReduceKind reduceKind = ReduceKind::Add;  // Partial

  static SequentialState cut(unsigned dim) { return {Kind::Cut, dim}; }
  static SequentialState partial(ReduceKind kind) { return {Kind::Partial, 0, kind}; }
  bool isWhole() const { return kind == Kind::Whole; }
  bool isCut() const { return kind == Kind::Cut; }
  bool isPartial() const { return kind == Kind::Partial; }
  bool operator==(const SequentialState&) const = default;
};

/// A mesh whose first axis is the sequential one.
class SequentialAxis {
 public:
  SequentialAxis(FlatSymbolRefAttr meshName, MeshAttr mesh, MeshAxisAttr axis) : axes(meshName, mesh), axis(axis) {}

  int64_t getSize() const { return axis.getSize(); }
  StringRef getName() const { return axis.getName(); }
  const MeshAxes& getMesh() const { return axes; }

  /// The sharding over ranks alone.
  TensorAxes getRankAxes(ShardingAttr sharding) const;
  SequentialState getState(ShardingAttr sharding) const;

  /// `type`, sharded over ranks as it is, in `state`.
  RankedTensorType withState(RankedTensorType type, SequentialState state) const;

  /// Whether dimension `dim` of `type` has equal parts over the axis, and each of these over the ranks that shard it.
  bool divides(RankedTensorType type, unsigned dim) const;

 private:
  bool isSequential(const AxisPart& part) const { return part.axis == 0; }

  MeshAxes axes;
  MeshAxisAttr axis;
};

}  // namespace mlir::sgd

#endif
