// The cost model's times of single instructions.
#ifndef SGD_PASSES_MEMORY_INSTRUCTION_COST_H
#define SGD_PASSES_MEMORY_INSTRUCTION_COST_H

#include "dialects/plan/plan_dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/cost/cost_model.h"

namespace mlir::sgd {

/// Bytes of one rank in `collective`, as SentBytes counts them: the results of an all_gather, what the busiest
/// rank sends of gathered ranges, else the operands.
uint64_t getCountedBytes(plan::CollectiveOp collective);

/// Seconds that `instruction` takes by itself, a loop of unknown trips as if it had one, a case as its longest branch;
/// a collective as if it ran to its end, a plan.done and what is no instruction none.
double getSeconds(const CostModel& cost, MeshAttr mesh, Operation* instruction);

/// How long the message of `send` is on its way from stage `from` while that goes on. A stage axis is the first of the
/// mesh.
double getTransitSeconds(const CostModel& cost, int64_t from, plan::SendOp send);

/// Seconds of one run of a plan-level function whose collectives in flight cost nothing but their own time, one after
/// another, and so do host copies in each direction.
double getSeconds(const CostModel& cost, MeshAttr mesh, func::FuncOp function);

/// How much of these nothing but host copies is done.
double getHostWaitSeconds(const CostModel& cost, MeshAttr mesh, func::FuncOp function);

}  // namespace mlir::sgd

#endif
