// sgd.contract to plan.matmul through its contraction shape.
#include "passes/memory/contract_to_plan.h"

#include "passes/schedule/buffers.h"
#include "passes/schedule/contraction_shape.h"

using namespace mlir;
using namespace mlir::sgd;

static SmallVector<int64_t> append(ArrayRef<int64_t> batch, std::initializer_list<int64_t> others) {
  SmallVector<int64_t> result(batch);
  result.append(others);
  return result;
}

/// The part of `buffer` from element `offset` on; matmuls read no further than their strides reach.
static Value from(OpBuilder& builder, Location loc, Value buffer, int64_t offset) {
  if (offset == 0) return buffer;
  auto type = cast<MemRefType>(buffer.getType());
  auto part = MemRefType::get({type.getNumElements() - offset}, type.getElementType(), MemRefLayoutAttrInterface(),
                              type.getMemorySpace());
  return plan::ViewOp::create(builder, loc, part, buffer, offset * plan::getElementBytes(type.getElementType()));
}

LogicalResult mlir::sgd::createMatmuls(OpBuilder& builder, ContractOp contract, const StridedBuffer& lhs,
                                       const StridedBuffer& rhs, const StridedBuffer& result, bool add) {
  auto shapeOf = [](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape(); };
  std::optional<ContractionShape> shape =
      getContractionShape({contract.getLhsLabels(), shapeOf(contract.getLhs()), lhs.strides},
                          {contract.getRhsLabels(), shapeOf(contract.getRhs()), rhs.strides},
                          {contract.getResultLabels(), shapeOf(contract.getResult()), result.strides},
                          canSumInPlace(contract.getType().getElementType()));
  if (!shape)
    return contract.emitOpError(
        "has an order of dimensions that no strided matrix product can take; transpose an operand first");
  Location loc = contract.getLoc();
  const StridedBuffer &a = shape->swapped ? rhs : lhs, &b = shape->swapped ? lhs : rhs;
  for (int64_t repeat = 0; repeat < shape->repeats; ++repeat) {
    auto epilogue = plan::EpilogueAttr::get(builder.getContext(),
                                            repeat == 0 && !add ? plan::Epilogue::None : plan::Epilogue::Accumulate);
    plan::MatmulOp::create(builder, loc, from(builder, loc, a.buffer, a.offset + repeat * shape->aStep),
                           from(builder, loc, b.buffer, b.offset + repeat * shape->bStep),
                           from(builder, loc, result.buffer, result.offset), Value(),
                           builder.getDenseI64ArrayAttr(append(shape->batch, {shape->m, shape->n, shape->k})),
                           builder.getDenseI64ArrayAttr(append(shape->aBatch, {shape->aM, shape->aK})),
                           builder.getDenseI64ArrayAttr(append(shape->bBatch, {shape->bK, shape->bN})),
                           builder.getDenseI64ArrayAttr(append(shape->cBatch, {shape->cM, shape->cN})), epilogue);
  }
  return success();
}
