// From ops to calls.
#include "passes/library/library_model.h"

#include "dialects/sgd/label_strides.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::sgd;

template <typename OpTy>
static ConvolutionCall getCall(OpTy op) {
  auto lhs = [&](int64_t label) { return getLabelStride(op.getLhsLabels(), op.getLhs(), label); };
  auto rhs = [&](int64_t label) { return getLabelStride(op.getRhsLabels(), op.getRhs(), label); };
  auto result = [&](int64_t label) { return getLabelStride(op.getResultLabels(), op.getResult(), label); };
  auto dim = [&](int64_t label, int64_t size) { return ConvolutionDim{size, lhs(label), rhs(label), result(label)}; };
  ConvolutionCall call;
  call.operand = cast<RankedTensorType>(op.getLhs().getType()).getElementType();
  call.result = cast<RankedTensorType>(op.getResult().getType()).getElementType();
  call.batch = dim(ConvolveOp::kBatch, op.getLhsSize(ConvolveOp::kBatch));
  call.groups = dim(ConvolveOp::kGroup, op.getLhsSize(ConvolveOp::kGroup));
  call.inputs = dim(ConvolveOp::kInput, op.getLhsSize(ConvolveOp::kInput));
  call.outputs = dim(ConvolveOp::kOutput, op.getRhsSize(ConvolveOp::kOutput));
  for (int64_t i = 0; i < op.getNumSpatialDims(); ++i) {
    int64_t label = ConvolveOp::kSpatial + i;
    call.windows.push_back({op.getLhsSize(label), op.getResultSize(label), op.getRhsSize(label), op.getStrides()[i],
                            op.getRhsDilations()[i], op.getLow()[i], op.getLhsDilations()[i], lhs(label), rhs(label),
                            result(label)});
  }
  return call;
}

ConvolutionCall mlir::sgd::getConvolutionCall(ConvolveOp op) { return getCall(op); }
ConvolutionCall mlir::sgd::getConvolutionCall(LibraryConvolveOp op) { return getCall(op); }

LogicalResult mlir::sgd::requireLibraries(const LibraryModel* libraries, const Pass& pass, MLIRContext* context) {
  if (libraries) return success();
  return emitError(UnknownLoc::get(context))
         << "pass " << pass.getArgument() << " has no libraries to ask; expected those of a target; create it with a "
         << "LibraryModel";
}
