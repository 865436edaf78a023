// Arguments and results that are several tensors for the user, and shardings that are asked for before there is a mesh.
#ifndef SGD_DIALECTS_SGD_TENSOR_PARTS_H
#define SGD_DIALECTS_SGD_TENSOR_PARTS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::sgd {

/// ArrayAttr of StringAttr, on an argument or result of two dimensions: row i is the tensor of name i for the user, in
/// files and in the artifact; rows behind the last name are none. If dimension 1 is sharded, dimension 0 of each of
/// these tensors is a multiple of the shards.
inline constexpr llvm::StringLiteral kPartNamesAttr = "sgd.part_names";

/// ArrayAttr of DenseI64ArrayAttr, beside kPartNamesAttr: the shapes of these tensors, each with the elements of a row.
inline constexpr llvm::StringLiteral kPartShapesAttr = "sgd.part_shapes";

/// ArrayAttr of shardings, each an ArrayAttr of an ArrayAttr of AxisRefAttr: the axes that shard each dimension. On an
/// argument there is one; on an op its result is to have one after the other. `sgd-annotate` makes annotations of them.
inline constexpr llvm::StringLiteral kAxesAttr = "sgd.axes";

}  // namespace mlir::sgd

#endif
