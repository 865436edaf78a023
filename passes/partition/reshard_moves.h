// The edges of the reshard planner's search: every useful step from a state, with its cost.
#ifndef SGD_PASSES_PARTITION_RESHARD_MOVES_H
#define SGD_PASSES_PARTITION_RESHARD_MOVES_H

#include "passes/partition/reshard_atoms.h"

namespace mlir::sgd {

/// Fills in `step`'s bytes and seconds: the collective, and copying the operand and the result, of which a rank holds
/// `bytesBefore` and `bytesAfter`.
void priceStep(const CostModel& cost, ReshardStep& step, uint64_t bytesBefore, uint64_t bytesAfter);

class ReshardMoves {
 public:
  using Visit = llvm::function_ref<void(const AtomState&, const ReshardStep&)>;

  /// States in which no dimension is sharded are left out unless `mayMaterialise`. All arguments outlive the object.
  ReshardMoves(const CostModel& cost, const Atoms& atoms, llvm::ArrayRef<int64_t> shape, uint64_t elementBytes,
               const AtomState& target, bool mayMaterialise);

  /// Calls `visit` with every state one step away and that step.
  void forEach(const AtomState& state, Visit visit) const;

 private:
  struct Position;  // a state with what is derived from it

  void forEachLocal(const Position& at, Visit visit) const;
  void forEachReduction(const Position& at, Visit visit) const;
  void forEachMovedSuffix(const Position& at, Visit visit) const;
  void forEachPermute(const Position& at, Visit visit) const;
  void visitReordered(const Position& at, size_t dim, Visit visit) const;
  void visitSwaps(const Position& at, Visit visit) const;
  void visitPermuteTo(const Position& at, const AtomState& next, Visit visit) const;
  void visitStep(const Position& at, const AtomState& next, ReshardStep step, Visit visit) const;
  bool canAppend(const Position& at, size_t dim, llvm::ArrayRef<uint8_t> added) const;
  int64_t getShards(llvm::ArrayRef<uint8_t> list) const;
  AtomList withTarget(const Position& at, uint8_t code) const;

  const CostModel& cost;
  const Atoms& atoms;
  llvm::ArrayRef<int64_t> shape;
  uint64_t globalBytes;
  const AtomState& target;
  llvm::SmallVector<AtomList, 4> targetDims;
  bool mayMaterialise;
};

}  // namespace mlir::sgd

#endif
