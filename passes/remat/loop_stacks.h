// Values that a loop stacks, iteration by iteration, for a later loop that reads them one by one: the forward and the
// backward pass of a scan over layers.
#ifndef SGD_PASSES_REMAT_LOOP_STACKS_H
#define SGD_PASSES_REMAT_LOOP_STACKS_H

#include "dialects/sgd/sgd_dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/cost/cost_model.h"

namespace mlir::sgd {

/// A stack: iteration i of the first loop writes its slice i, and nothing else; the second loop reads whole slices.
struct LoopStack {
  Operation* update = nullptr;
  Value slice;  ///< that is written, with a leading dimension of one
  int64_t bytes = 0;
  SmallVector<DynamicSliceOp, 1> reads;
};

/// What a loop has to run again, in each iteration, for slices that are not stacked.
struct StackCone {
  SmallVector<Operation*, 0> ops;        ///< of the first loop's body, in order
  llvm::SetVector<Value> iterArgs;       ///< of the first loop that are read: what it leaves as it is
  llvm::SetVector<Value> newStacks;      ///< loop-carried values of the first loop that have to be stacked instead
  llvm::SetVector<unsigned> readStacks;  ///< stacks that are read
  double seconds = 0;                    ///< of all iterations, by the cost model
  double flops = 0;
  int64_t newBytes = 0;  ///< of newStacks
};

/// Two loops of one block with stacks between them.
class LoopPair {
 public:
  /// All pairs of `function`, in order.
  static SmallVector<LoopPair, 0> find(func::FuncOp function);

  ArrayRef<LoopStack> getStacks() const { return stacks; }
  int64_t getTrips() const { return trips; }

  /// Recomputes the slices of the stacks whose numbers are in `dropped`; nullopt when one depends on something that
  /// must not run twice.
  std::optional<StackCone> getCone(ArrayRef<unsigned> dropped, const CostModel& cost) const;

  /// Lets the second loop compute these slices. The stacks are left without readers.
  void drop(ArrayRef<unsigned> dropped, const CostModel& cost);

 private:
  WhileOp getProducer() const;
  WhileOp getConsumer() const;
  std::optional<unsigned> findStack(Value value, ArrayRef<unsigned> dropped) const;

  SmallVector<LoopStack, 0> stacks;
  Value counter;  // of the first loop's iterations, from zero
  Value index;    // of the second loop: the number of the slice that it reads
  int64_t trips = 0;
};

}  // namespace mlir::sgd

#endif
