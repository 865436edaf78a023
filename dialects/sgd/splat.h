// Constants whose elements are all the same.
#ifndef SGD_DIALECTS_SGD_SPLAT_H
#define SGD_DIALECTS_SGD_SPLAT_H

#include <optional>

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// The elements of a constant, of any type, that are all the same; null otherwise.
SplatElementsAttr getSplatElements(Value value);

/// The value of a constant of floats, or of a broadcast of one, whose elements are all the same.
std::optional<double> getSplat(Value value);

/// Whether all elements are +0: of a constant of floats, or of a broadcast of one.
bool isPositiveZero(Value value);

}  // namespace mlir::sgd

#endif
