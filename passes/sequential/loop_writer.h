// Writes one loop over the sequential axis.
#ifndef SGD_PASSES_SEQUENTIAL_LOOP_WRITER_H
#define SGD_PASSES_SEQUENTIAL_LOOP_WRITER_H

#include <functional>

#include "dialects/sgd/sequential.h"
#include "dialects/spmd/spmd_dialect.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::sgd {

/// What the loops of a function share.
struct LoopContext {
  FlatSymbolRefAttr meshName;
  MeshAxisAttr axis;
  /// Values that earlier loops have left: all coordinates, along a new first dimension.
  DenseMap<Value, Value> stacks{};
};

/// Of `whole`, cut along dimension `dim` into parts of `size` elements, the part with the number `number`, a scalar
/// i32.
Value createPart(OpBuilder& builder, Location loc, Value whole, unsigned dim, int64_t size, Value number);

/// Collects the body of a loop with one iteration per coordinate. A value of the surrounding block becomes an iter_arg
/// when it is first read; what iterations change are further iter_args.
class LoopWriter {
 public:
  LoopWriter(LoopContext& context, Location loc);

  /// `op`, which does not join coordinates, in the body.
  void add(Operation* op);
  /// The result of `op` is its operands of all coordinates combined; sums of floats of 16 bits are taken in f32.
  void accumulate(spmd::AllReduceOp op);

  /// `setResult` is called with the values of all coordinates, side by side along dimension `dim`.
  using SetResult = std::function<void(Value)>;
  void gather(Value value, unsigned dim, SetResult setResult);
  /// Uses of `value` outside of the body read that of the last coordinate, to which all others are equal.
  void keep(Value value);
  /// `value` of all coordinates is kept for later loops.
  void leave(Value value);

  /// Creates the loop and hands out its results.
  WhileOp finish(OpBuilder& outer);

 private:
  struct IterArg {
    Value init;  // null where it is the constant
    TypedAttr constant;
    Value next;  // null: never changes
    SetResult setResult;
  };

  Value get(Value value);
  Value capture(Value value);
  void change(RankedTensorType type, Attribute init, llvm::function_ref<Value(Value)> next, SetResult setResult);
  Value index(int64_t value);
  Value updateAt(Value into, Value value, unsigned dim, int64_t size);
  void addPartitionId(spmd::PartitionIdOp id);

  LoopContext& context;
  Location loc;
  Region region;
  Block* body;
  OpBuilder builder;
  IRMapping mapping;
  SmallVector<IterArg> iterArgs;
  Value iteration;
};

}  // namespace mlir::sgd

#endif
