// Collectives around a loop that run in each of its iterations instead: more is sent, and the loop holds shards alone.
#ifndef SGD_PASSES_TIME_RECOMPUTE_REPEATED_EXCHANGE_H
#define SGD_PASSES_TIME_RECOMPUTE_REPEATED_EXCHANGE_H

#include "dialects/spmd/collective.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/cost/cost_model.h"

namespace mlir::sgd {

/// Operand `number` of an all-gather whose result loops alone read, all as it is, or of a reduce-scatter that alone
/// reads what a loop has summed up from zero.
struct RepeatedExchange {
  Operation* collective = nullptr;
  unsigned number = 0;
  SmallVector<OpOperand*, 1> inits;  ///< of an all-gather: the loops' operands that it is
  WhileOp loop;                      ///< of a reduce-scatter: the loop
  unsigned iterArg = 0;              ///< of a reduce-scatter: which of its results
  int64_t freedBytes = 0;            ///< of a rank, between iterations
  uint64_t sentBytes = 0;            ///< in all iterations, less what the collective sends once
  double seconds = 0;                ///< likewise
};

/// Parameters that are gathered before loops, as in ZeRO 3 with a batch in parts. In the program's order.
SmallVector<RepeatedExchange, 0> findRepeatableGathers(func::FuncOp function, const CostModel& cost);

/// Gradients that are accumulated whole and then reduced to shards. In the program's order.
SmallVector<RepeatedExchange, 0> findRepeatableReductions(func::FuncOp function, const CostModel& cost);

/// Gathers before the first reader in each iteration.
void gatherInLoops(func::FuncOp function, const CostModel& cost);

/// Reduces what each iteration adds; the loop sums up shards. Sums are taken in another order than before.
void reduceInLoops(func::FuncOp function, const CostModel& cost);

}  // namespace mlir::sgd

#endif
