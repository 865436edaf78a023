// The verifier of sgd.compressed_reduction.
#include "dialects/sgd/compression.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sgd;

#include "dialects/sgd/compression_enums.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/sgd/compression_ops.cpp.inc"

unsigned mlir::sgd::getNumStates(CompressionKind kind) {
  switch (kind) {
    case CompressionKind::BF16:
      return 0;
    case CompressionKind::Int8:
    case CompressionKind::TopK:
      return 1;
    case CompressionKind::PowerSGD:
      return 2;
  }
  llvm_unreachable("all kinds are handled");
}

static LogicalResult verifyInput(CompressedReductionOp op, unsigned index) {
  auto input = cast<RankedTensorType>(op.getInputs()[index].getType());
  auto result = cast<RankedTensorType>(op.getResults()[index].getType());
  ShardingAttr from = getSharding(input), to = getSharding(result);
  if (!from || !to || !from.isPartial() || from.getUnreducedKind() != ReduceKind::Add || to.isPartial())
    return op.emitOpError() << "reduces " << input << " to " << result
                            << "; expected a sum that is partial, and then whole";
  ShardingAttr first = getSharding(op.getInputs().front().getType());
  if (from.getUnreduced() != first.getUnreduced())
    return op.emitOpError() << "has inputs that are partial over other axes than the first; expected one group";
  if (input.getShape() != result.getShape() || input.getElementType() != result.getElementType())
    return op.emitOpError() << "has an input of " << input << " and a result of " << result << "; expected one shape";
  bool isSized = op.getKind() != CompressionKind::BF16;
  Type element = input.getElementType();
  if (!element.isF32() && !(isSized && (element.isF16() || element.isBF16())))
    return op.emitOpError() << "compresses elements of " << element << "; expected f32"
                            << (isSized ? ", bf16 or f16" : "");
  int64_t size = op.getSizes()[index];
  if (isSized ? size < 1 : size != 0)
    return op.emitOpError() << "has the size " << size << "; expected " << (isSized ? "one above 0" : "0");
  if (!isSized) return success();
  auto error = cast<RankedTensorType>(op.getState()[index * getNumStates(op.getKind())].getType());
  if (error.getRank() == 0 || error.getShape().drop_front() != input.getShape() || !error.getElementType().isF32())
    return op.emitOpError() << "has an error of " << error
                            << "; expected f32 of the input's shape behind a dimension of ranks";
  return success();
}

LogicalResult CompressedReductionOp::verify() {
  size_t inputs = getInputs().size(), states = inputs * getNumStates(getKind());
  if (inputs == 0 || getResults().size() != inputs || getSizes().size() != inputs)
    return emitOpError() << "has " << inputs << " inputs, " << getResults().size() << " results and "
                         << getSizes().size() << " sizes; expected as many of each, and one at least";
  if (getState().size() != states || getState().getTypes() != getNext().getTypes())
    return emitOpError() << "has " << getState().size() << " states and " << getNext().size()
                         << " of the next step; expected " << states << " of both, of the same types";
  for (unsigned index = 0; index < inputs; ++index)
    if (failed(verifyInput(*this, index))) return failure();
  return success();
}
