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

LogicalResult CompressedReductionOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType()), result = cast<RankedTensorType>(getResult().getType());
  ShardingAttr from = getSharding(input), to = getSharding(result);
  if (!from || !to || !from.isPartial() || from.getUnreducedKind() != ReduceKind::Add || to.isPartial())
    return emitOpError() << "reduces " << input << " to " << result
                         << "; expected a sum that is partial, and then whole";
  if (input.getShape() != result.getShape() || input.getElementType() != result.getElementType())
    return emitOpError() << "has an input of " << input << " and a result of " << result << "; expected one shape";
  if (!input.getElementType().isF32())
    return emitOpError() << "compresses elements of " << input.getElementType() << "; expected f32";
  if (getState().size() != getNumStates(getKind()) || getState().getTypes() != getNext().getTypes())
    return emitOpError() << "has " << getState().size() << " states and " << getNext().size() << " of the next step; "
                         << stringifyCompressionKind(getKind()) << " keeps " << getNumStates(getKind())
                         << ", with the same types";
  bool isSized = getKind() != CompressionKind::BF16;
  if (isSized ? getSize() < 1 : getSize() != 0)
    return emitOpError() << "has the size " << getSize() << "; expected " << (isSized ? "one above 0" : "0");
  if (getState().empty()) return success();
  auto error = cast<RankedTensorType>(getState().front().getType());
  if (error.getRank() == 0 || error.getShape().drop_front() != input.getShape() || !error.getElementType().isF32())
    return emitOpError() << "has an error of " << error << "; expected the input's shape behind a dimension of ranks";
  return success();
}
