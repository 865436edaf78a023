// Sums over all parts of values that different stages compute.
#ifndef SGD_PASSES_TIME_STAGES_SPLIT_SUMS_H
#define SGD_PASSES_TIME_STAGES_SPLIT_SUMS_H

#include "passes/time/stages/pipeline_plan.h"

namespace mlir::sgd {

/// A reduction over parts of a sum of which another stage sends a term in each part becomes a sum of reductions, each
/// on its stage, which is sent once. True when there is any, and `plan` is no longer one of the function. With the
/// gradient %a of an embedding's use as a head and %b of that as a table:
///
///   %g = addf %a, %b                          %ra = spmd.all_reduce add(%a) "micro"
///   %r = spmd.all_reduce add(%g) "micro"      %rb = spmd.all_reduce add(%b) "micro"
///                                             %r  = addf %ra, %rb
///
/// So does one of %g converted to a wider type, in which its terms are added up then.
bool splitSums(const PipelinePlan& plan);

}  // namespace mlir::sgd

#endif
