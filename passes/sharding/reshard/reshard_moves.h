// The edges of the reshard planner's search: every useful step from a state, with its cost.
#ifndef SGD_PASSES_SHARDING_RESHARD_RESHARD_MOVES_H
#define SGD_PASSES_SHARDING_RESHARD_RESHARD_MOVES_H

#include "passes/sharding/reshard/reshard_atoms.h"

namespace mlir::sgd {

/// Fills in `step`'s bytes and seconds: the collective, and copying the operand and the result, of which a rank holds
/// `bytesBefore` and `bytesAfter`. The bytes of a GatherRange depend on its tiles and must be there already.
void priceStep(const CostModel& cost, ReshardStep& step, uint64_t bytesBefore, uint64_t bytesAfter);

class ReshardMoves {
 public:
  using Visit = llvm::function_ref<void(const AtomState&, const ReshardStep&)>;

  /// States in which a rank holds as many elements as the whole tensor has are left out unless `mayMaterialise`. All
  /// arguments outlive the object.
  ReshardMoves(const CostModel& cost, const Atoms& atoms, llvm::ArrayRef<int64_t> shape, uint64_t elementBytes,
               const ShardState& from, const ShardState& to, bool mayMaterialise);

  const AtomState& getStart() const { return start; }
  const AtomState& getTarget() const { return target; }

  /// Calls `visit` with every state one step away and that step.
  void forEach(const AtomState& state, Visit visit) const;

 private:
  struct Position;  // a state with what is derived from it

  /// Elements of the largest shard, with its padding and without.
  struct LocalSizes {
    uint64_t padded = 1, real = 1;
  };

  void forEachLocal(const Position& at, Visit visit) const;
  void forEachPlace(const Position& at, size_t dim, Visit visit) const;
  void forEachReduction(const Position& at, Visit visit) const;
  void forEachMovedSuffix(const Position& at, Visit visit) const;
  void visitAllMoves(const Position& at, Visit visit) const;
  void forEachPermute(const Position& at, Visit visit) const;
  void forEachRetiling(const Position& at, Visit visit) const;
  void visitReordered(const Position& at, size_t dim, Visit visit) const;
  void visitSwaps(const Position& at, Visit visit) const;
  void visitPermuteTo(const Position& at, const AtomState& next, Visit visit) const;
  void visitRetiled(const Position& at, size_t dim, llvm::ArrayRef<uint8_t> list, Visit visit) const;
  void visitStep(const Position& at, const AtomState& next, ReshardStep step, Visit visit) const;
  bool canAppend(const Position& at, size_t dim, llvm::ArrayRef<uint8_t> added) const;
  int64_t getShards(llvm::ArrayRef<uint8_t> list) const;
  int64_t getSize(const AtomState& state, size_t dim) const { return sizes[dim][state.sizes[dim]]; }
  LocalSizes getLocalSizes(const AtomState& state) const;
  uint64_t getFetchedElements(int64_t size, llvm::ArrayRef<uint8_t> from, int64_t fromTile, llvm::ArrayRef<uint8_t> to,
                              int64_t toTile) const;
  AtomList withTarget(const Position& at, uint8_t code) const;
  AtomState encode(const ShardState& state) const;
  llvm::SmallVector<AtomList, 4> getLeaving(const Position& at) const;

  const CostModel& cost;
  const Atoms& atoms;
  llvm::ArrayRef<int64_t> shape;
  uint64_t elementBytes;
  uint64_t wholeElements = 1;
  llvm::SmallVector<PaddedSizes, 4> sizes;
  AtomState start, target;
  llvm::SmallVector<AtomList, 4> targetDims;
  bool mayMaterialise;
};

}  // namespace mlir::sgd

#endif
