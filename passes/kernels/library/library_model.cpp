// From ops to calls.
#include "passes/kernels/library/library_model.h"

#include "dialects/fusion/label_strides.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::sgd;

template <typename OpTy>
static ConvolutionCall getCall(OpTy op) {
  auto lhs = [&](int64_t label) { return fusion::getLabelStride(op.getLhsLabels(), op.getLhs(), label); };
  auto rhs = [&](int64_t label) { return fusion::getLabelStride(op.getRhsLabels(), op.getRhs(), label); };
  auto result = [&](int64_t label) { return fusion::getLabelStride(op.getResultLabels(), op.getResult(), label); };
  auto dim = [&](int64_t label, int64_t size) { return ConvolutionDim{size, lhs(label), rhs(label), result(label)}; };
  ConvolutionCall call;
  call.operand = cast<RankedTensorType>(op.getLhs().getType()).getElementType();
  call.result = cast<RankedTensorType>(op.getResult().getType()).getElementType();
  call.batch = dim(fusion::ConvolutionOp::kBatch, op.getLhsSize(fusion::ConvolutionOp::kBatch));
  call.groups = dim(fusion::ConvolutionOp::kGroup, op.getLhsSize(fusion::ConvolutionOp::kGroup));
  call.inputs = dim(fusion::ConvolutionOp::kInput, op.getLhsSize(fusion::ConvolutionOp::kInput));
  call.outputs = dim(fusion::ConvolutionOp::kOutput, op.getRhsSize(fusion::ConvolutionOp::kOutput));
  for (int64_t i = 0; i < op.getNumSpatialDims(); ++i) {
    int64_t label = fusion::ConvolutionOp::kSpatial + i;
    call.windows.push_back({op.getLhsSize(label), op.getResultSize(label), op.getRhsSize(label), op.getStrides()[i],
                            op.getRhsDilations()[i], op.getLow()[i], op.getLhsDilations()[i], lhs(label), rhs(label),
                            result(label)});
  }
  return call;
}

ConvolutionCall mlir::sgd::getConvolutionCall(fusion::ConvolutionOp op) { return getCall(op); }
ConvolutionCall mlir::sgd::getConvolutionCall(fusion::LibraryConvolutionOp op) { return getCall(op); }

LogicalResult mlir::sgd::requireLibraries(const LibraryModel* libraries, const Pass& pass, MLIRContext* context) {
  if (libraries) return success();
  return emitError(UnknownLoc::get(context))
         << "pass " << pass.getArgument() << " has no libraries to ask; expected those of a target; create it with a "
         << "LibraryModel";
}
