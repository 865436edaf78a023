// Conversions from attributes and types to the artifact's structs.
#ifndef SGD_COMPILER_EXPORT_TYPES_H
#define SGD_COMPILER_EXPORT_TYPES_H

#include "dialects/plan/plan_dialect.h"
#include "runtime/artifact/program_generated.h"

namespace mlir::sgd {

namespace artifact = ::sgd::artifact;

/// The artifact's element type of a scalar; nullopt when it has none (i4, f8, complex).
std::optional<artifact::ElementType> getElementType(Type scalar, bool isUnsigned);

/// Whole axes get their size from `mesh`, which must have them.
std::vector<artifact::AxisRef> getAxisRefs(ArrayRef<AxisRefAttr> axes, MeshAttr mesh);

/// The global tensor of `buffer`, of an argument or result with `attributes`; fails (without a message) when its
/// element type has no counterpart.
FailureOr<std::unique_ptr<artifact::TensorInfoT>> getTensorInfo(MemRefType buffer, DictionaryAttr attributes,
                                                                MeshAttr mesh);

/// Bytes of all elements in memory order; booleans as 0 or 1.
std::string getConstantBytes(DenseElementsAttr elements);

/// The bytes of one scalar.
std::vector<uint8_t> getPattern(TypedAttr scalar);

}  // namespace mlir::sgd

#endif
