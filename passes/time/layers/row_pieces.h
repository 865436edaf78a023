// Values as pieces along a dimension, made where they are asked for: what stacked values of all layers become when each
// stage of a pipeline has layers of its own. Pieces of
//
//   %m2 = addf (mulf %m, %c9), %g
//
// are computed from pieces of %m and %g, by the ops' sharding rules; a piece of anything else is a slice of it.
#ifndef SGD_PASSES_TIME_LAYERS_ROW_PIECES_H
#define SGD_PASSES_TIME_LAYERS_ROW_PIECES_H

#include "dialects/sgd/sharding_rule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd {

/// Rows [first, first + count) of stacked values, and the virtual stage that has them, where it is known yet.
struct RowRange {
  int64_t first = 0, count = 0;
  std::optional<unsigned> stage;
  bool operator==(const RowRange&) const = default;
};
/// All rows, in ascending order.
using RowRanges = SmallVector<RowRange, 4>;

/// A factor of an op that its result and operands have as the major one of a dimension, or not at all.
struct FactorDims {
  struct Dim {
    int64_t index = -1;  ///< -1: none
    int64_t rows = 1;    ///< of the dimension, for each of the factor
  };
  Factor factor;
  SmallVector<Dim> operands;
  Dim result;
};

/// `ranges` of what has `rows` rows for each one there.
RowRanges multiply(const RowRanges& ranges, int64_t rows);
/// The other way round; nothing where a range is not a multiple of `rows`.
std::optional<RowRanges> divide(const RowRanges& ranges, int64_t rows);

/// The factor of dimension `dim` of operand number `operand`, or of the result where that is nothing. Nothing where
/// `op` cannot be computed piece by piece along it.
std::optional<FactorDims> findFactor(Operation* op, std::optional<unsigned> operand, int64_t dim);

class RowPieces : private OpBuilder::Listener {
 public:
  /// `mayCut` says which arguments may be cut in arguments of their own.
  RowPieces(func::FuncOp function, llvm::function_ref<bool(BlockArgument)> mayCut)
      : function(function), mayCut(mayCut) {}

  struct Cut {
    RowRanges ranges;
    int64_t dim = 0;
    SmallVector<Value> pieces;
    bool isSliced = false;  ///< pieces are slices of the value itself
  };

  /// For all ops that are put in the place of others.
  OpBuilder getBuilder() { return OpBuilder(function.getContext(), this); }

  /// The pieces of `value`; computed at its definition where they are new.
  SmallVector<Value> get(Value value, const RowRanges& ranges, int64_t dim = 0);
  /// How `value` is cut, or null.
  const Cut* find(Value value) const;
  void set(Value value, Cut cut);
  /// `op` has been put in pieces: it goes when nothing reads it, whatever its effects are.
  void retire(Operation* op) { retired.insert(op); }
  /// Computes `op`, an op of the function some of whose operands are cut, in pieces where it can be.
  void visit(Operation* op);
  /// Replaces what is left of cut values by their pieces one after the other, and erases what nothing reads. Arguments
  /// stay, without uses.
  void finish();
  /// In the order in which they were cut.
  ArrayRef<BlockArgument> getCutArguments() const { return arguments; }

 private:
  void notifyOperationInserted(Operation* op, OpBuilder::InsertPoint) override { created.insert(op); }
  Cut compute(Value value, const RowRanges& ranges, int64_t dim);
  SmallVector<Value> cutArgument(BlockArgument argument, const RowRanges& ranges);
  SmallVector<Value> fill(Value value, SplatElementsAttr splat, const RowRanges& ranges, int64_t dim);
  SmallVector<Value> slice(Value value, const RowRanges& ranges, int64_t dim);
  /// `ranges` are of the factor.
  SmallVector<Value> computeOp(Operation* op, const FactorDims& dims, const RowRanges& ranges);
  Value computePiece(OpBuilder& builder, Operation* op, const FactorDims& dims, int64_t count, ValueRange operands);
  void combine(Operation* op, const FactorDims& dims, const RowRanges& ranges);
  bool visitSlice(SliceOp op, const Cut& cut);
  void visitBarrier(Operation* op, const Cut& cut);
  void replaceByWhole(Value value);

  func::FuncOp function;
  llvm::function_ref<bool(BlockArgument)> mayCut;
  DenseMap<Value, Cut> cuts;
  llvm::DenseSet<Operation*> created, retired;
  SmallVector<BlockArgument> arguments;
};

}  // namespace mlir::sgd

#endif
