// Ops of arith, math and sgd that compute elements from elements: an operation for each element of the result.
#include "dialects/cost/cost_op.h"
#include "dialects/sgd/scalar_cost.h"
#include "dialects/sgd/tensor_type.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

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

template <typename Op>
static void attachIfElementwise(MLIRContext* context) {
  if constexpr (Op::template hasTrait<OpTrait::Elementwise>())
    Op::template attachInterface<ElementwiseWork<Op>>(*context);
}

template <typename... Ops>
static void attachToElementwise(MLIRContext* context) {
  (attachIfElementwise<Ops>(context), ...);
}

void mlir::sgd::registerElementwiseWork(DialectRegistry& registry) {
  registry.addExtension(+[](MLIRContext* context, arith::ArithDialect*) {
    attachToElementwise<
#define GET_OP_LIST
#include "mlir/Dialect/Arith/IR/ArithOps.cpp.inc"
        >(context);
  });
  registry.addExtension(+[](MLIRContext* context, math::MathDialect*) {
    attachToElementwise<
#define GET_OP_LIST
#include "mlir/Dialect/Math/IR/MathOps.cpp.inc"
        >(context);
  });
  registry.addExtension(+[](MLIRContext* context, SgdDialect*) {
    attachToElementwise<
#define GET_OP_LIST
#include "dialects/sgd/sgd_ops.cpp.inc"
        >(context);
  });
}
