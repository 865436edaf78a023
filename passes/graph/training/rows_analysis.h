// Where the rows of a batch are in the values of a function, and which values are sums over them. The IR is only read.
// Rows are followed by the sharding rules of ops, as sgd-pad-batch does, and sums by the linearity of ops.
#ifndef SGD_PASSES_GRAPH_TRAINING_ROWS_ANALYSIS_H
#define SGD_PASSES_GRAPH_TRAINING_ROWS_ANALYSIS_H

#include "dialects/sgd/data_flow.h"
#include "dialects/sgd/sharding_rule.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd {

/// Arguments that hold the rows of a batch in dimension 0.
struct BatchInputs {
  SmallVector<unsigned> inputs;
  int64_t rows = 0;               ///< of the first one; 0: there is none
  std::optional<unsigned> other;  ///< an argument with another number of rows
};

/// All arguments with the role of an input but scalars and the words of a random generator.
BatchInputs findBatchInputs(func::FuncOp function);

/// How a value belongs to the rows of the batch.
struct RowsState {
  enum class Kind : uint8_t {
    Independent,  ///< of no row
    Rows,         ///< its dimension `dim` holds the rows, each of them as one or more elements
    Sum,          ///< a sum over rows, or linear in such sums
    Total,        ///< computed from sums over all rows
    Mixed,        ///< of several rows in another way, first at `mixer`
  };
  Kind kind = Kind::Independent;
  unsigned dim = 0;
  Operation* mixer = nullptr;
  bool operator==(const RowsState&) const = default;
};

class RowsAnalysis {
 public:
  /// Results of `statistics` count as independent of rows.
  RowsAnalysis(func::FuncOp function, const BatchInputs& batch, DenseSet<Operation*> statistics);

  /// An operand of an op, whose number of operands may grow.
  struct Use {
    Operation* op;
    unsigned operand;
  };

  RowsState get(Value value) const { return states.lookup(value); }
  /// The dimension of rows of an operand that its op sums over.
  ArrayRef<std::pair<OpOperand*, unsigned>> getSummed() const { return summed.getArrayRef(); }
  /// Scalar sums, and their uses that are not linear.
  const llvm::MapVector<Value, SmallVector<Use>>& getCut() const { return cut; }

 private:
  bool isInLoop(Operation* op) const { return op->getParentOp() != function; }
  void visit(Block& block);
  RowsState cutBefore(OpOperand& operand);
  RowsState visitOp(Operation* op, Value result);
  RowsState visitSums(Operation* op);
  RowsState visitRows(Operation* op, Value result);
  RowsState sumRows(Operation* op, const ShardingRule& rule, unsigned factor);
  void visitDataFlow(DataFlowOpInterface op);
  bool flow(DataFlowOpInterface op, const DataFlowEdge& edge);

  func::FuncOp function;
  int64_t rows;
  DenseSet<Operation*> statistics;
  DenseMap<Value, RowsState> states;
  llvm::SetVector<std::pair<OpOperand*, unsigned>> summed;
  llvm::MapVector<Value, SmallVector<Use>> cut;
};

}  // namespace mlir::sgd

#endif
