// Ops whose result is a part of their operand in memory, which plans therefore do not copy.
#ifndef SGD_DIALECTS_SGD_VIEWS_H
#define SGD_DIALECTS_SGD_VIEWS_H

#include <optional>

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// For an op whose result is a part of its operand's bytes (a reshape, or a slice that is contiguous and begins at a
/// multiple of 64 bytes): where the part begins. nullopt for every other op.
std::optional<int64_t> getViewByteOffset(Operation* op);

/// The value behind all views.
Value getViewRoot(Value value);

}  // namespace mlir::sgd

#endif
