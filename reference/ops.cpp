// From an op to the function that knows it.
#include "reference/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::reference;

static Evaluations makeEvaluations() {
  Evaluations all;
  addAttention(all);
  addConvolutions(all);
  addGroupedDot(all);
  addIndexing(all);
  addLibraryCalls(all);
  addLinearAlgebra(all);
  addMovements(all);
  addReductions(all);
  addSorting(all);
  return all;
}

LogicalResult reference::evaluateOp(Operation* op, Operands in, Results out) {
  static const Evaluations evaluations = makeEvaluations();
  if (ElementsAttr constant; matchPattern(op, m_Constant(&constant))) {
    *out[0] = Tensor::fromConstant(constant);
    return success();
  }
  if (const Evaluations::Function* evaluate = evaluations.find(op)) return (*evaluate)(op, in, out);
  if (op->hasTrait<OpTrait::Elementwise>()) return evaluateElementwise(op, in, *out[0]);
  return op->emitOpError(
      "has no reference evaluation; expected an op that docs/reference/operations.md lists as evaluated; add it to "
      "reference/");
}
