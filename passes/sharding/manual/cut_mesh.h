// A mesh whose axes are the parts of another one's that collectives over a part of an axis need.
#ifndef SGD_PASSES_SHARDING_MANUAL_CUT_MESH_H
#define SGD_PASSES_SHARDING_MANUAL_CUT_MESH_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// Ranks have the same numbers on both meshes: parts of an axis follow each other, the major one first.
class CutMesh {
 public:
  /// Cuts the axes of `mesh` where any of `refs` begins or ends. Null when these do not nest: 2 x 3 and 3 x 2 of 6.
  static std::optional<CutMesh> create(MeshAttr mesh, ArrayRef<AxisRefAttr> refs);

  /// The parts as axes.
  MeshAttr get() const { return parts; }
  /// Part `index` as what it is of the mesh that was cut.
  AxisRefAttr getRef(unsigned index) const { return refs[index]; }
  /// The parts that `axes` of the mesh that was cut consist of, in their order.
  SmallVector<unsigned> find(ArrayRef<AxisRefAttr> axes) const;

 private:
  MeshAttr parts;
  SmallVector<AxisRefAttr> refs;  // by part
};

}  // namespace mlir::sgd

#endif
