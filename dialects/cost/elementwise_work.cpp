// Ops of arith, math and sgd that compute elements from elements: an operation for each element of the result.
#include "dialects/cost/cost_op.h"
#include "dialects/sgd/elementwise_models.h"
#include "dialects/sgd/scalar_cost.h"
#include "dialects/sgd/tensor_type.h"

using namespace mlir;
using namespace mlir::sgd;

static OperationKind getKind(Operation* op) {
  switch (getScalarCost(op)) {
    case ScalarCost::Instruction:
      return OperationKind::Vector;
    case ScalarCost::Division:
      return OperationKind::Division;
    case ScalarCost::Function:
      return OperationKind::Transcendental;
  }
  llvm_unreachable("all costs are handled");
}

namespace {
template <typename Op>
struct ElementwiseWork : CostOpInterface::ExternalModel<ElementwiseWork<Op>, Op> {
  Work getWork(Operation* op) const {
    Work work = getMoves(op->getOperands(), op->getResults());
    // Comparisons and conversions take as long as their wider side.
    Type result = op->getResult(0).getType(), operand = op->getOperand(op->getNumOperands() - 1).getType();
    Precision precision =
        std::min(getPrecision(getElementTypeOrSelf(result)), getPrecision(getElementTypeOrSelf(operand)));
    auto tensor = dyn_cast<RankedTensorType>(result);
    return work.add(getKind(op), precision, tensor ? static_cast<double>(tensor.getNumElements()) : 1);
  }
  bool isFused(Operation*) const { return true; }
};
}  // namespace

void mlir::sgd::registerElementwiseWork(DialectRegistry& registry) {
  registerElementwiseModels<ElementwiseWork>(registry);
}
