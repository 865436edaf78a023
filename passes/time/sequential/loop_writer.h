// Writes one loop over the sequential axis.
#ifndef SGD_PASSES_TIME_SEQUENTIAL_LOOP_WRITER_H
#define SGD_PASSES_TIME_SEQUENTIAL_LOOP_WRITER_H

#include <deque>
#include <functional>

#include "dialects/sgd/phase.h"
#include "dialects/sgd/sequential.h"
#include "dialects/spmd/spmd_dialect.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::sgd {

/// State that the loops of a function share.
struct LoopContext {
  /// Takes a value that is known behind all loops which change it.
  using SetResult = std::function<void(Value)>;

  /// A value that iterations change; each loop passes it to the next one that reads or changes it.
  struct State {
    RankedTensorType type;
    TypedAttr init;
    Value current{};  // behind the last loop that had it; null: `init`
    SetResult setResult{};
  };

  /// Values of many coordinates, along a new first dimension: that of coordinate i is at i mod `places`.
  struct Stored {
    State* state = nullptr;
    int64_t places = 0;
  };

  FlatSymbolRefAttr meshName;
  MeshAxisAttr axis;
  bool sumsInOwnType = false;  ///< of floats of 16 bits; else in f32
  std::deque<State> states{};
  DenseMap<const void*, State*> byKey{};
  DenseMap<Value, Stored> stored{};
  llvm::DenseSet<Value> given{};  ///< not computed here: see LoopWriter::set

  /// Hands out what loops have computed, where nothing has yet.
  void setResults();
};

/// Returns part `number` of `whole`, which is cut along dimension `dim` into parts of `size` elements. `number` is a
/// scalar i32.
Value createPart(OpBuilder& builder, Location loc, Value whole, unsigned dim, int64_t size, Value number);

/// Collects the body of a loop. It consists of tasks, each for a coordinate of its own in an iteration. A value of the
/// surrounding block becomes an iter_arg when it is first read; what iterations change are further iter_args.
class LoopWriter {
 public:
  using SetResult = LoopContext::SetResult;

  LoopWriter(LoopContext& context, Location loc, int64_t trips);

  /// Ops added from now on are for coordinate `first` + i * `stride` in iteration i; before, for coordinate i.
  void beginTask(int64_t first, int64_t stride);
  /// Marks all ops that were added since the task began as those of `phase`.
  void markTask(Phase phase);

  /// `op`, which does not join coordinates, in the body.
  void add(Operation* op);
  /// The result of `op` is its operands of all coordinates combined; sums of floats of 16 bits are taken in f32.
  void accumulate(spmd::AllReduceOp op);

  /// `setResult` is called with the values of all coordinates, side by side along dimension `dim`.
  /// `key` tells it from other gathered values where several loops have it.
  void gather(Value value, unsigned dim, const void* key, SetResult setResult);
  /// Uses of `value` outside of the body read that of the last coordinate, to which all others are equal.
  void keep(Value value);
  /// `value` is kept for later tasks, until so many more coordinates are.
  void store(Value value, int64_t places);
  /// `value` of the coordinate in the body, computed there, stored or taken from outside.
  Value get(Value value);
  /// From here on `own` is `value` of the coordinate, whatever its op is.
  void set(Value value, Value own) {
    mapping.map(value, own);
    context.given.insert(value);
  }
  OpBuilder& getBuilder() { return builder; }

  /// Creates the loop; one iteration is no loop.
  void finish(OpBuilder& outer);

 private:
  struct IterArg {
    Value init;  // null where it is the constant
    TypedAttr constant;
    Value next;  // null: never changes
    LoopContext::State* state;
  };

  Value capture(Value value);
  unsigned addState(LoopContext::State& state);
  Value getCurrent(LoopContext::State& state);
  LoopContext::State& change(const void* key, RankedTensorType type, Attribute init,
                             llvm::function_ref<Value(Value)> next);
  Value getPlace(int64_t places);
  Value index(int64_t value);
  Value updateAt(Value into, Value value, unsigned dim, int64_t size, Value number);
  void addPartitionId(spmd::PartitionIdOp id);
  llvm::iterator_range<Block::iterator> getOpsOfTask();
  void endTask();

  LoopContext& context;
  Location loc;
  int64_t trips;
  Region region;
  Block* body;
  OpBuilder builder;
  IRMapping shared;   // of all tasks
  IRMapping mapping;  // of the task
  SmallVector<IterArg> iterArgs;
  DenseMap<LoopContext::State*, unsigned> stateArgs;
  Value iteration, part;
  PartOfBatch taskPart;             // of the task that is written
  Operation* beforeTask = nullptr;  // the last op of the body before it
};

}  // namespace mlir::sgd

#endif
