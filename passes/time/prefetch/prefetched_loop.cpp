// Appends iter_args for the gathered values.
#include "passes/time/prefetch/prefetched_loop.h"

using namespace mlir;
using namespace mlir::sgd;

/// The body of `loop` once more, before `builder`'s place, with `iterArgs`; returns what it yields.
static SmallVector<Value> cloneBody(OpBuilder& builder, WhileOp loop, ValueRange iterArgs,
                                    const llvm::DenseSet<Operation*>& left, IRMapping& mapping) {
  mapping.map(loop.getBody().getArguments(), iterArgs);
  for (Operation& op : loop.getBody().front().without_terminator())
    if (!left.contains(&op)) builder.clone(op, mapping);
  return llvm::map_to_vector(loop.getYielded(), [&](Value value) { return mapping.lookup(value); });
}

void mlir::sgd::prefetch(WhileOp loop, ArrayRef<GatherCone> cones, Operation* place) {
  OpBuilder before(loop), next(place), behind(loop->getContext());
  SmallVector<Value> inits(loop.getInits()), gathered;
  for (const GatherCone& cone : cones) {
    llvm::append_range(inits, cone.build(before, loop.getInits()));
    llvm::append_range(gathered, cone.buildNext(next));
  }
  unsigned numIterArgs = loop.getNumResults();
  auto shorter = WhileOp::create(before, loop.getLoc(), loop, inits);
  shorter.setTrips(*loop.getTrips() - 1);

  // The last iteration, while the body is still as it was but for what it gathers for the next one.
  behind.setInsertionPointAfter(shorter);
  IRMapping last;
  llvm::DenseSet<Operation*> left;
  unsigned carried = numIterArgs;
  for (const GatherCone& cone : cones) {
    left.insert(cone.getGather());
    for (Value result : cone.getGather().getResults()) last.map(result, shorter.getResult(carried++));
  }
  for (Value value : gathered) left.insert(value.getDefiningOp());
  SmallVector<Value> results = cloneBody(behind, loop, shorter.getResults().take_front(numIterArgs), left, last);
  loop->replaceAllUsesWith(results);

  shorter.getBody().takeBody(loop.getBody());
  Block& body = shorter.getBody().front();
  for (const GatherCone& cone : cones) {
    for (Value result : cone.getGather().getResults())
      result.replaceAllUsesWith(body.addArgument(result.getType(), result.getLoc()));
    cone.getGather().erase();
  }
  body.getTerminator()->insertOperands(numIterArgs, gathered);
  loop.erase();
}
