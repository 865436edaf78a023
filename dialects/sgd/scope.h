// Scopes of the user's source.
#ifndef SGD_DIALECTS_SGD_SCOPE_H
#define SGD_DIALECTS_SGD_SCOPE_H

#include <string>

#include "mlir/IR/Location.h"

namespace mlir::sgd {

/// Where an op stands in the user's source, by jax.named_scope and modules of flax: `encoder/layer0/mlp`.
struct Scope {
  std::string path;         // without the primitive's own name and without transformations
  bool isBackward = false;  // it computes a gradient
  bool isForward = false;   // it is differentiated, and computes no gradient
};

/// Read from the names in the op's location, `jit(step)/transpose(jvp(encoder))/layer0/mlp/dot_general`; an empty path
/// where it has none.
Scope getScope(Location location);

}  // namespace mlir::sgd

#endif
