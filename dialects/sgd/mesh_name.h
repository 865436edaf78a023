// The symbol of a module's mesh.
#ifndef SGD_DIALECTS_SGD_MESH_NAME_H
#define SGD_DIALECTS_SGD_MESH_NAME_H

#include "llvm/ADT/StringRef.h"

namespace mlir::sgd {

/// Programs of one artifact share their mesh by this name, whatever the mesh was called in their texts.
inline constexpr llvm::StringLiteral kMeshName = "mesh";

}  // namespace mlir::sgd

#endif
