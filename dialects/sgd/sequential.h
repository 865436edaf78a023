// Mesh axes whose coordinates are iterations instead of ranks.
#ifndef SGD_DIALECTS_SGD_SEQUENTIAL_H
#define SGD_DIALECTS_SGD_SEQUENTIAL_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// MeshAxisAttr on `sgd.mesh`: a sequential axis, `"micro"=8`. Each rank goes through its coordinates one after the
/// other. The axis is in the mesh itself only between `sgd-shard-sequential` and `sgd-form-loops`.
inline constexpr llvm::StringLiteral kSequentialAttr = "sgd.sequential";

/// I64Attr on arguments: the dimension that is cut over the sequential axis. On ops, whose result a loop reads in
/// blocks of rows: the dimension of these rows, which readers cut.
inline constexpr llvm::StringLiteral kSequentialDimAttr = "sgd.sequential_dim";

/// TypeAttr on arguments and results between `sgd-pad-batch` and `sgd-localize`: the type without the padding of rows.
inline constexpr llvm::StringLiteral kUnpaddedTypeAttr = "sgd.unpadded_type";

/// DenseI64ArrayAttr on arguments and results of a localised function: by dimension, how many blocks it has, each of
/// which is sharded by itself. A rank holds its tiles of all blocks, one after the other: of n ranks, tile k * n + r of
/// the dimension is tile k of rank r. The last tiles may end in padding, or hold nothing else. Absent: one block each.
inline constexpr llvm::StringLiteral kBlocksAttr = "sgd.blocks";

/// The sequential axis of `mesh` (which may be null), or null.
inline MeshAxisAttr getSequentialAxis(MeshOp mesh) {
  return mesh ? mesh->getAttrOfType<MeshAxisAttr>(kSequentialAttr) : MeshAxisAttr();
}

/// The same while the axis is in the mesh, as its first one; else null.
inline MeshAxisAttr getActiveSequentialAxis(MeshOp mesh) {
  MeshAxisAttr axis = getSequentialAxis(mesh);
  return axis && !mesh.getMesh().getAxes().empty() && mesh.getMesh().getAxes().front() == axis ? axis : MeshAxisAttr();
}

/// Whether `list`, which may be null, names `axis`.
inline bool namesAxis(AxisListAttr list, MeshAxisAttr axis) {
  return list && llvm::any_of(list.getAxes(), [&](AxisRefAttr ref) { return ref.getName() == axis.getName(); });
}

}  // namespace mlir::sgd

#endif
