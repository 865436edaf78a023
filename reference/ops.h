// Semantics of the graph level's ops on whole tensors, for ops that work on each rank alone. Results have their
// types and are zero before; operands are as in the op. Functions fail, with a diagnostic at the op, on ops that the
// evaluator does not know.
#ifndef SGD_REFERENCE_OPS_H
#define SGD_REFERENCE_OPS_H

#include <functional>

#include "dialects/sgd/sgd_dialect.h"
#include "llvm/ADT/DenseMap.h"
#include "reference/tensor.h"

namespace mlir::sgd::reference {

using Operands = ArrayRef<const Tensor*>;
using Results = ArrayRef<Tensor*>;

/// Which function knows an op. Each file of this folder adds those of its family.
class Evaluations {
 public:
  using Function = std::function<LogicalResult(Operation*, Operands, Results)>;

  /// `evaluate(Op, Operands, Results)` returns a LogicalResult, or nothing where it cannot fail.
  template <typename Op, typename Evaluate>
  void add(Evaluate evaluate) {
    functions[TypeID::get<Op>()] = [evaluate](Operation* op, Operands in, Results out) -> LogicalResult {
      if constexpr (std::is_void_v<std::invoke_result_t<Evaluate, Op, Operands, Results>>)
        return evaluate(cast<Op>(op), in, out), success();
      else
        return evaluate(cast<Op>(op), in, out);
    };
  }

  /// Null for ops that nobody added.
  const Function* find(Operation* op) const {
    auto found = functions.find(op->getName().getTypeID());
    return found == functions.end() ? nullptr : &found->second;
  }

 private:
  llvm::DenseMap<TypeID, Function> functions;
};

void addAttention(Evaluations& evaluations);
void addConvolutions(Evaluations& evaluations);
void addGroupedDot(Evaluations& evaluations);
void addIndexing(Evaluations& evaluations);
void addLibraryCalls(Evaluations& evaluations);
void addLinearAlgebra(Evaluations& evaluations);
void addMovements(Evaluations& evaluations);
void addReductions(Evaluations& evaluations);
void addSorting(Evaluations& evaluations);

/// Any op that works on one rank alone.
LogicalResult evaluateOp(Operation* op, Operands in, Results out);

/// Any op with the trait Elementwise, by its name.
LogicalResult evaluateElementwise(Operation* op, Operands in, Tensor& out);

/// The scalar that `body`, a function of scalars that yields one, gives for `arguments` (tensors without dimensions).
FailureOr<Tensor> evaluateScalarBody(Block& body, Operands arguments);

}  // namespace mlir::sgd::reference

#endif
