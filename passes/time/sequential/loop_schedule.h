// Which ops of the program of one coordinate are in which loop over the sequential axis. The IR is only read.
//
// Loop k runs after what is outside as number k and before what is outside as number k + 1. A value that needs all
// coordinates comes from loop k and is outside as number k + 1:
//
//   %y = dot_general %x, %w          varies: loop 0
//   %s = all_reduce add %y "micro"   accumulated by loop 0
//   %m = divf %s, %n                 outside, 1
//   %z = subf %y, %m                 varies and needs %m: loop 1, for which loop 0 leaves %y
//
// Loop 0 computes only what a later loop needs of all coordinates, and what is cheaper to leave than to compute later:
// of a masked mean `sum(l * m) / sum(m)` it sums %m, and loop 1 has the forward and the backward pass.
#ifndef SGD_PASSES_TIME_SEQUENTIAL_LOOP_SCHEDULE_H
#define SGD_PASSES_TIME_SEQUENTIAL_LOOP_SCHEDULE_H

#include "dialects/sgd/sequential.h"
#include "dialects/spmd/collective.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/spmd/collectives/rank_differences.h"
#include "passes/time/sequential/stored_values.h"

namespace mlir::sgd {

struct LoopPlace {
  bool isInLoop = false;
  unsigned index = 0;
};

class LoopSchedule {
 public:
  /// Schedules the function's block; `axis` is the sequential axis, the first one of `mesh`; null without loops.
  LoopSchedule(func::FuncOp function, MeshAttr mesh, MeshAxisAttr axis);

  /// Whether coordinates may have different values.
  bool varies(Value value) const { return axis && overlaps(differences.get(value), {{0, 1, axis.getSize()}}); }
  /// Whether `op` combines or collects the values of all coordinates.
  bool joinsCoordinates(Operation* op) const;
  LoopPlace get(Operation* op) const { return places.lookup(op); }
  unsigned getNumLoops() const { return numLoops; }

  /// Whether `op` costs as much as reading what it gives: it computes elements one by one, moves them, or reads
  /// nothing.
  static bool isCheap(Operation* op);
  /// The cost of running an op again, in bytes that are stored; nothing if it runs once.
  static std::optional<int64_t> getRepeatCost(Operation* op);

  /// Cheap ops of earlier loops that a loop runs again, in the order of the program.
  ArrayRef<Operation*> getRepeated(unsigned loop) const { return repeated[loop]; }
  /// Varying values that loop `loop` leaves for later loops.
  const llvm::SetVector<Value>& getLeft(unsigned loop) const { return left[loop]; }
  /// Values of loop `loop` that all coordinates have alike and that something behind it reads.
  const llvm::SetVector<Value>& getKept(unsigned loop) const { return kept[loop]; }

 private:
  void placeEarly(Operation& op);
  void moveLater();
  void sinkOutside(Operation& op);
  StoredValues findStored(unsigned loop, llvm::function_ref<int64_t(Value)> getStoreCost);
  void chooseLeft();
  void findKept();
  bool isInLoop(Operation* op) const;
  /// Where `value` can be read: outside, as number `index`, or in loop `index` and, once it is left, in later ones.
  unsigned getFirst(Value value) const;

  func::FuncOp function;
  MeshAxisAttr axis;
  RankDifferences differences;
  DenseMap<Operation*, LoopPlace> places;
  unsigned numLoops = 0;
  SmallVector<SmallVector<Operation*>, 2> repeated;
  SmallVector<llvm::SetVector<Value>, 2> left, kept;
};

}  // namespace mlir::sgd

#endif
