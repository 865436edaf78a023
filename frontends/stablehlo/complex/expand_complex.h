// Complex numbers become pairs of reals before the module is imported: no type of the graph level is complex.
#ifndef SGD_FRONTENDS_STABLEHLO_COMPLEX_EXPAND_COMPLEX_H
#define SGD_FRONTENDS_STABLEHLO_COMPLEX_EXPAND_COMPLEX_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::sgd {

/// Replaces each complex value of `module`, which holds ops of the input dialects, by two values of its shape: real and
/// imaginary parts. An argument or result of a public function becomes one tensor of reals whose last dimension of two
/// is never sharded, with kComplexAttr. FFTs become calls of sgd.linear_algebra or, with `transformsByMatmuls`,
/// matmuls with tables of roots of unity. On failure the ops at fault have been reported.
LogicalResult expandComplex(ModuleOp module, bool transformsByMatmuls);

/// Names of the ops that the importer knows only through this, sorted.
SmallVector<StringRef> getComplexOps();

}  // namespace mlir::sgd

#endif
