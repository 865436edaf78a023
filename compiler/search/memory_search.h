// The search for a plan that keeps the memory limit, over ways to lower the programs.
#ifndef SGD_COMPILER_SEARCH_MEMORY_SEARCH_H
#define SGD_COMPILER_SEARCH_MEMORY_SEARCH_H

#include "compiler/search/alternatives.h"

namespace mlir::sgd {

/// The fastest plan within the limit of the options, else the one with the smallest peak. `local` is a compilation at
/// the SPMD level, before communication is hidden, and `hidden` what Alternatives::hideAndLower makes of it. Fails with
/// an error if an alternative cannot be planned.
FailureOr<OwningOpRef<ModuleOp>> findPlanWithinLimit(const Alternatives& alternatives, ModuleOp local,
                                                     OwningOpRef<ModuleOp> hidden);

}  // namespace mlir::sgd

#endif
