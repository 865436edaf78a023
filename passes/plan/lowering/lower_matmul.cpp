// fusion.matmul to plan.matmul through its contraction shape.
#include "passes/plan/lowering/lower_matmul.h"

#include "passes/plan/lowering/call_buffers.h"

#include "dialects/fusion/library_calls.h"
#include "dialects/sgd/tensor_type.h"
#include "passes/kernels/order/buffers.h"

using namespace mlir;
using namespace mlir::sgd;

static SmallVector<int64_t> append(ArrayRef<int64_t> batch, std::initializer_list<int64_t> others) {
  SmallVector<int64_t> result(batch);
  result.append(others);
  return result;
}

FailureOr<plan::MatmulOp> mlir::sgd::createMatmuls(OpBuilder& builder, const Contraction& contraction,
                                                   const StridedBuffer& lhs, const StridedBuffer& rhs,
                                                   const StridedBuffer& result, bool add, const MatmulLimits& limits) {
  Operation* op = contraction.op;
  RankedTensorType resultType = tensorType(op->getResult(0));
  // An epilogue follows the whole sum, in the one call that has been asked for.
  bool mayRepeat = canAccumulateInPlace(resultType.getElementType()) && !isa<fusion::LibraryMatmulOp>(op);
  std::optional<ContractionShape> shape =
      getContractionShape({contraction.lhsLabels, tensorType(op->getOperand(0)).getShape(), lhs.strides},
                          {contraction.rhsLabels, tensorType(op->getOperand(1)).getShape(), rhs.strides},
                          {contraction.resultLabels, resultType.getShape(), result.strides}, mayRepeat, limits);
  if (!shape)
    return op->emitOpError("has an order of dimensions that no strided matmul can read; transpose an operand first");
  Location loc = op->getLoc();
  const StridedBuffer &a = shape->swapped ? rhs : lhs, &b = shape->swapped ? lhs : rhs;
  auto tf32 = op->getAttrOfType<UnitAttr>("tf32");
  plan::MatmulOp matmul;
  for (int64_t repeat = 0; repeat < shape->repeats; ++repeat) {
    fusion::Epilogue epilogue;
    if (repeat != 0 || add) epilogue.Append(fusion::EpilogueStep::kResidual);
    matmul = plan::MatmulOp::create(builder, loc, viewFrom(builder, loc, a.buffer, a.offset + repeat * shape->aStep),
                                    viewFrom(builder, loc, b.buffer, b.offset + repeat * shape->bStep),
                                    viewFrom(builder, loc, result.buffer, result.offset), /*bias=*/Value(),
                                    /*aux=*/Value(), /*reduction=*/Value(), /*workspace=*/Value(),
                                    builder.getDenseI64ArrayAttr(append(shape->batch, {shape->m, shape->n, shape->k})),
                                    builder.getDenseI64ArrayAttr(append(shape->aBatch, {shape->aM, shape->aK})),
                                    builder.getDenseI64ArrayAttr(append(shape->bBatch, {shape->bK, shape->bN})),
                                    builder.getDenseI64ArrayAttr(append(shape->cBatch, {shape->cM, shape->cN})),
                                    fusion::EpilogueAttr::get(builder.getContext(), epilogue), tf32);
  }
  return matmul;
}
