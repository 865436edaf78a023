// Regions of loops and branches as functions, so that every pass on a plan-level function works on them too.
#ifndef SGD_PASSES_PLAN_LOWERING_OUTLINE_H
#define SGD_PASSES_PLAN_LOWERING_OUTLINE_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// The functions of an outlined loop. They take the iter_args `inputs`, which the loop leaves as they are, then the
/// iter_args `carried`; the body returns the carried ones.
struct OutlinedLoop {
  func::FuncOp body, condition;  // condition: null when the trips are known
  SmallVector<unsigned> inputs, carried;
};

/// Moves the regions of `loop` to private functions after `function`; results of `body` take its arguments' buffers.
/// The loop is left without blocks, to be replaced.
OutlinedLoop outline(WhileOp loop, func::FuncOp function, SymbolTable& symbols);

/// The same for the branches of `op`: their arguments are the inputs, then the buffers of the results.
SmallVector<func::FuncOp> outline(CaseOp op, func::FuncOp function, SymbolTable& symbols);

}  // namespace mlir::sgd

#endif
