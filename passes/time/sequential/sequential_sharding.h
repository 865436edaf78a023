// Which values are cut over the sequential axis, which are partial over it, and in which state each op needs its
// operands. The IR is only read.
//
// Example: a linear layer on 32 rows and its gradient, with "micro" = 8. %x comes in rows and is cut in dimension 0.
//
//   %y = dot_general %x, %w        tensor<32x16xf32>   cut in dimension 0; %w is whole
//   %l = reduce add %y             tensor<f32>         partial: each coordinate has the sum of its 4 rows
//   %g = dot_general %x, %dy       tensor<8x16xf32>    partial: the contraction is cut
//   %w' = subf %w, %g              tensor<8x16xf32>    whole: needs %g reduced, which ends the loop
#ifndef SGD_PASSES_TIME_SEQUENTIAL_SEQUENTIAL_SHARDING_H
#define SGD_PASSES_TIME_SEQUENTIAL_SEQUENTIAL_SHARDING_H

#include "dialects/sgd/sharding_rule.h"
#include "passes/sharding/propagation/sequential_axis.h"
#include "passes/time/sequential/row_blocks.h"

namespace mlir::sgd {

/// The states of all tensors of a function that is sharded over ranks.
class SequentialSharding {
 public:
  /// `arguments` are the dimensions in which arguments are cut; all others are whole. `sumsInOwnType`: sums
  /// are reduced before they are converted to a wider type.
  SequentialSharding(func::FuncOp function, const SequentialAxis& axis, const DenseMap<Value, unsigned>& arguments,
                     bool sumsInOwnType = false);

  /// In which the op computes `value`.
  SequentialState get(Value value) const { return states.lookup(value); }
  /// A loop or branch that is computed for all coordinates at once, since an op inside needs more than one has.
  struct WholeOp {
    Operation* op;
    Operation* cause;
  };
  /// Those that are in no other one.
  ArrayRef<WholeOp> getWhole() const { return whole; }
  /// Ops whose blocks of rows have no equal parts. Then nothing is cut.
  ArrayRef<Operation*> getUnevenBlocks() const { return blocks.getUneven(); }
  /// In which the op needs `operand`.
  SequentialState getNeeded(OpOperand& operand) const { return needed.lookup(&operand); }

 private:
  struct Ruled {
    Operation* op;
    ShardingRule rule;
    SmallVector<bool, 4> isCuttable;  // by factor
  };

  static bool isInLoop(Operation* op);
  void findStates(const DenseMap<Value, unsigned>& arguments);
  void addRules(Block& block);
  SmallVector<bool, 4> getCuttable(Operation* op, const ShardingRule& rule) const;
  void propagate();
  bool propagate(const Ruled& ruled, bool forward);
  bool propagate(const DataFlowEdge& edge, bool forward);
  bool assign(Value value, unsigned dim);

  void visit(Block& block);
  void visit(Operation& op);
  void visitRuled(const Ruled& ruled);
  void visitDataFlow(DataFlowOpInterface op);
  void settleDataFlow(DataFlowOpInterface op);
  SmallVector<OpOperand*> findJoins(Operation* op) const;
  bool exchangesMuch(const llvm::DenseSet<Value>& values) const;
  bool keepWhole(Value value);
  bool isKeptWhole(Value value) const;
  void makeWhole(Operation* op);
  bool visitPartial(const Ruled& ruled);
  bool visitBlock(Operation* op);
  bool joinsSummands(Operation* op, SequentialState state) const;
  bool carriesSummands(Operation* op, unsigned operand, SequentialState state) const;
  std::optional<unsigned> chooseFactor(const Ruled& ruled);
  void set(Operation* op, SequentialState operands, SequentialState results);

  func::FuncOp function;
  const SequentialAxis& axis;
  bool sumsInOwnType;
  SmallVector<Ruled, 0> ops;                 // in the order of a walk
  DenseMap<Operation*, unsigned> positions;  // in `ops`
  SmallVector<DataFlowEdge, 0> edges;
  llvm::DenseSet<Value> changed;   // what loops change, or branches choose
  DenseMap<Value, unsigned> dims;  // where a value is cut, if its op can
  RowBlocks blocks;
  llvm::DenseSet<Value> keptWhole;            // values that ops compute for all coordinates
  bool isStale = false;                       // keptWhole has grown since states were found
  DenseMap<Value, SequentialState> partials;  // owners of edges
  SmallVector<WholeOp, 0> whole;
  DenseMap<Value, SequentialState> states;
  DenseMap<OpOperand*, SequentialState> needed;
};

}  // namespace mlir::sgd

#endif
