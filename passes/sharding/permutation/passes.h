// Passes on rows that are permuted and put back; see passes.td.
#ifndef SGD_PASSES_SHARDING_PERMUTATION_PASSES_H
#define SGD_PASSES_SHARDING_PERMUTATION_PASSES_H

#include "dialects/sgd/sgd_dialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sgd {

#define GEN_PASS_DECL
#include "passes/sharding/permutation/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/sharding/permutation/passes.h.inc"

}  // namespace mlir::sgd

#endif
