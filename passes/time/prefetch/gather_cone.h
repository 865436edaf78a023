// The ops that an all-gather in a loop is computed from, if another iteration can compute them too.
#ifndef SGD_PASSES_TIME_PREFETCH_GATHER_CONE_H
#define SGD_PASSES_TIME_PREFETCH_GATHER_CONE_H

#include "dialects/sgd/sgd_dialect.h"
#include "dialects/spmd/spmd_dialect.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::sgd {

/// A gather of blocks of what the loop leaves as it is, at places that depend on the number of the trip alone.
class GatherCone {
 public:
  /// Nothing where the gather depends on something else, or on ops that are worth no second run.
  static std::optional<GatherCone> find(WhileOp loop, spmd::AllGatherOp gather);

  spmd::AllGatherOp getGather() const { return cast<spmd::AllGatherOp>(gather); }

  /// The gather with the ops that it needs, before `builder`'s place; `iterArgs` are the iter_args there.
  ValueRange build(OpBuilder& builder, ValueRange iterArgs) const;

  /// The same for the next iteration, in the body.
  ValueRange buildNext(OpBuilder& builder) const;

 private:
  GatherCone(WhileOp loop, spmd::AllGatherOp gather) : body(&loop.getBody().front()), gather(gather) {}

  bool visit(Value value);
  Value rebuild(OpBuilder& builder, Value value, IRMapping& mapping) const;
  ValueRange rebuildGather(OpBuilder& builder, IRMapping& mapping) const;

  /// The next value of an iter_arg.
  Value getYielded(unsigned iterArg) const { return body->getTerminator()->getOperand(iterArg); }

  Block* body;
  Operation* gather;
  llvm::DenseSet<Value> seen;
  llvm::SetVector<unsigned> counters;  // iter_args that count trips
  unsigned numOps = 0;
};

}  // namespace mlir::sgd

#endif
