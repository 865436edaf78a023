// Lanes and workspace follow from sizes alone: the plan is the same for any number of threads.
#include "passes/plan/lowering/lower_linear_algebra.h"

#include "dialects/plan/linear_algebra.h"

using namespace mlir;
using namespace mlir::sgd;

void mlir::sgd::createLinearAlgebra(OpBuilder& builder, LinearAlgebraOp op, ArrayRef<Value> inputs,
                                    ArrayRef<Value> outputs) {
  linear_algebra::Form form = getLinearAlgebraForm(op);
  auto batch = static_cast<uint64_t>(llvm::product_of(getLinearAlgebraBatch(op)));
  unsigned main = linear_algebra::OperandsOf(form.kind, form.options).main;
  auto element = cast<MemRefType>(inputs[main].getType()).getElementType();
  auto elementBytes = static_cast<uint64_t>(getElementBytes(element));
  uint64_t lanes = linear_algebra::LanesFor(form, batch, elementBytes);
  auto bytes = static_cast<int64_t>(lanes * linear_algebra::WorkspaceOf(form).Bytes(elementBytes));
  Value workspace;
  if (bytes > 0) {
    auto type = MemRefType::get({bytes}, builder.getI8Type(), MemRefLayoutAttrInterface(),
                                plan::SpaceAttr::get(builder.getContext(), plan::Space::Private));
    workspace = plan::AllocOp::create(builder, op.getLoc(), type, IntegerAttr());
  }
  int64_t sizes[] = {static_cast<int64_t>(form.m), static_cast<int64_t>(form.n), static_cast<int64_t>(form.k)};
  plan::LinearAlgebraOp::create(builder, op.getLoc(), inputs, outputs, workspace, op.getKind(),
                                static_cast<int64_t>(batch), sizes, static_cast<int64_t>(lanes), op.getLower(),
                                op.getRight(), op.getTranspose(), op.getUnitDiagonal(), op.getVectors(),
                                op.getLeftVectors(), op.getFull(), op.getQrIteration(), op.getInverse(),
                                op.getOddLength(), op.getTwoDims(), op.getThreeDims(), op.getPairedOperand(),
                                op.getPairedResult(), op.getComplex(), op.getConjugate());
}
