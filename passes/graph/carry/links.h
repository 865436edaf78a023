// How results of a function come from its arguments, element by element: what tells a parameter's update from its
// gradient.
#ifndef SGD_PASSES_GRAPH_CARRY_LINKS_H
#define SGD_PASSES_GRAPH_CARRY_LINKS_H

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/graph/carry/op_links.h"

namespace mlir::sgd {

/// Composes `outer`, from one value to another, with `inner`, from there to an argument.
Link compose(Link outer, Link inner);

/// Looks through reshapes, conversions between floats or between integers, constraints, branches and loops. The
/// function must not change meanwhile.
class Links {
 public:
  explicit Links(func::FuncOp function);

  Link get(unsigned result, unsigned argument);
  /// Whether the argument has any influence on the result that is visible in the program.
  bool depends(unsigned result, unsigned argument);
  /// Whether the result is what only an update of the argument looks like: argument + rest, or c * argument + rest
  /// where c is near one or the rest and c do not depend on the argument. A gradient of a sum of squares is c *
  /// argument + rest as well, but its rest does.
  bool isUpdate(unsigned result, unsigned argument);
  /// Whether it is an update of an argument of another type, rounded: parameters beside their f32 originals.
  bool isRoundedUpdate(unsigned result);

 private:
  using ValueLinks = SmallVector<std::pair<Value, Link>, 2>;  // to arguments of the value's block

  void visit(Block& block);
  void visit(Operation* op);
  void visitProduct(Operation* op, bool isQuotient);
  void visitDataFlow(DataFlowOpInterface op);
  void add(Value value, Value argument, Link link);
  void follow(Value value, Value operand, Link link);
  Link lookup(Value value, Value argument) const;
  llvm::DenseSet<Value> getSources(Value value) const;
  void findSources();
  bool restDepends(Value value, Value argument);
  bool reaches(Value value, Value argument);

  func::FuncOp function;
  llvm::DenseMap<Value, ValueLinks> links;
  llvm::DenseMap<Value, llvm::BitVector> sources;  // arguments; of values of the function's own block, once asked for
};

}  // namespace mlir::sgd

#endif
