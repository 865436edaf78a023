// Ops that a loop runs again for slices that an earlier loop no longer stacks.
#ifndef SGD_PASSES_TIME_RECOMPUTE_STACK_CONE_H
#define SGD_PASSES_TIME_RECOMPUTE_STACK_CONE_H

#include "llvm/ADT/BitVector.h"
#include "passes/graph/loops/loop_stacks.h"
#include "passes/timing/op_times.h"

namespace mlir::sgd {

/// Recomputation of slices in each iteration.
struct StackCone {
  SmallVector<Operation*, 0> ops;        ///< of the first loop's body, unordered
  llvm::SetVector<Value> iterArgs;       ///< of the first loop that are read: those that it leaves unchanged
  llvm::SetVector<Value> newStacks;      ///< loop-carried values of the first loop that are stacked instead
  llvm::SetVector<unsigned> readStacks;  ///< stacks that are read
  llvm::SmallVector<Value> readValues;   ///< values that these stacks hold
  double seconds = 0;                    ///< of all iterations, by the cost model
  double flops = 0;
  int64_t newBytes = 0;      ///< of newStacks
  bool isArithmetic = true;  ///< all ops are single instructions on elements, or move elements
};

/// The cone of the stacks that were dropped so far. An addition is the part that further stacks add to it, so the walks
/// of all additions together are short where stacks are many: each ends at stacks that are kept and at ops of the cone.
class ConeGrowth {
 public:
  ConeGrowth(const LoopPair& pair, const OpTimes& times) : pair(pair), times(times), dropped(pair.getStacks().size()) {}

  /// The addition by dropping `stacks`; nullopt if a slice depends on an op that must not run twice.
  std::optional<StackCone> getAddition(ArrayRef<unsigned> stacks);

  /// Drops `stacks`, whose addition is `addition`.
  void add(ArrayRef<unsigned> stacks, const StackCone& addition);

  bool isDropped(unsigned stack) const { return dropped[stack]; }
  /// Ops that all walks visited.
  uint64_t getNumVisited() const { return numVisited; }

 private:
  struct OpWork {
    double seconds = 0, flops = 0;  // of all iterations
    bool isRepeatable = false;
    bool isArithmetic = false;
  };
  const OpWork& getWork(Operation* op);
  std::optional<unsigned> findHolder(Value value) const;

  const LoopPair& pair;
  const OpTimes& times;
  llvm::BitVector dropped;
  DenseSet<Operation*> ops;
  DenseSet<Value> newStacks, readValues;
  DenseMap<Operation*, OpWork> works;
  uint64_t numVisited = 0;
};

}  // namespace mlir::sgd

#endif
