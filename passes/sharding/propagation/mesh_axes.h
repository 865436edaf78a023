// Between sharding attributes and the plain axis algebra, for one mesh.
#ifndef SGD_PASSES_SHARDING_PROPAGATION_MESH_AXES_H
#define SGD_PASSES_SHARDING_PROPAGATION_MESH_AXES_H

#include "dialects/sgd/sgd_dialect.h"
#include "passes/sharding/propagation/projection.h"

namespace mlir::sgd {

/// The part of an axis that `ref`, which must name an axis of `mesh`, means.
AxisPart getPart(MeshAttr mesh, AxisRefAttr ref);

/// In merged form, without axes of size 1.
AxisParts getParts(MeshAttr mesh, ArrayRef<AxisRefAttr> refs);

/// The one attribute for `part`: a whole axis is written without sizes.
AxisRefAttr getAxisRef(MeshAttr mesh, const AxisPart& part);

/// A mesh with its name. Axes of size 1 exist in attributes but never in axis parts.
class MeshAxes {
 public:
  MeshAxes(FlatSymbolRefAttr name, MeshAttr mesh) : name(name), mesh(mesh) {}

  FlatSymbolRefAttr getName() const { return name; }
  MeshAttr getMesh() const { return mesh; }

  AxisParts toParts(ArrayRef<AxisRefAttr> refs) const { return getParts(mesh, refs); }

  /// The sharding as the algebra sees it; priorities are dropped.
  TensorAxes toTensorAxes(ShardingAttr sharding) const;

  /// The one attribute for a final sharding: all dimensions closed, no priorities, replicated axes
  /// left out, unreduced axes in mesh order.
  ShardingAttr toAttr(const TensorAxes& tensor, ReduceKind unreducedKind = ReduceKind::Add) const;

 private:
  FlatSymbolRefAttr name;
  MeshAttr mesh;
};

}  // namespace mlir::sgd

#endif
