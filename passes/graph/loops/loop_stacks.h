// Values that a loop stacks, iteration by iteration, for a later loop that reads them one by one: the forward and the
// backward pass of a scan over layers.
#ifndef SGD_PASSES_GRAPH_LOOPS_LOOP_STACKS_H
#define SGD_PASSES_GRAPH_LOOPS_LOOP_STACKS_H

#include "dialects/sgd/sgd_dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd {

/// A stack: iteration i of the first loop writes its slice i, and nothing else; the second loop reads whole slices.
struct LoopStack {
  Operation* update = nullptr;
  Value slice;  ///< that is written, with a leading dimension of one
  int64_t bytes = 0;
  SmallVector<DynamicSliceOp, 1> reads;
};

/// Two loops of one block with stacks between them.
class LoopPair {
 public:
  /// All pairs of `function`, in order.
  static SmallVector<LoopPair, 0> find(func::FuncOp function);

  ArrayRef<LoopStack> getStacks() const { return stacks; }
  int64_t getTrips() const { return trips; }
  Value getCounter() const { return counter; }
  /// Returns the number of the slice that the second loop reads.
  Value getIndex() const { return index; }
  WhileOp getProducer() const;
  WhileOp getConsumer() const;

  /// The stacks that hold `value`, with or without a leading dimension of one, in order.
  ArrayRef<unsigned> getHolders(Value value) const;

  /// The slice of a stack without its leading dimension; null if the slice was made otherwise.
  Value getElement(unsigned stack) const;

  /// `value`, of the first loop's body, where the second loop reads it from a stack of the same iteration.
  SmallVector<Value> findReads(Value value) const;

  /// Lets the first loop stack `value`, of its body, and the second one read it; returns what it reads.
  Value fetch(Value value);

  /// Lets the first loop stack `carried`, of its body: an iter_arg as it is when an iteration begins. Returns the stack
  /// that comes out.
  Value addStack(Value carried);

  /// Behind what computes the index of the second loop.
  void setToIndex(OpBuilder& builder) const;

 private:
  void add(LoopStack stack);

  SmallVector<LoopStack, 0> stacks;
  DenseMap<Value, SmallVector<unsigned, 1>> holders;
  Value counter;  // of the first loop's iterations, from zero
  Value index;
  int64_t trips = 0;
};

}  // namespace mlir::sgd

#endif
