// sgd.convolve to the instruction that its form is asked of.
#include "compiler/cudnn_convolutions.h"

#include "compiler/export_types.h"
#include "runtime/artifact/convolution_form.h"

using namespace mlir;
using namespace mlir::sgd;
namespace artifact = ::sgd::artifact;

namespace {

/// Of the dimensions called `labels`; 0 for those that the row-major tensor has not.
int64_t strideOf(ArrayRef<int64_t> labels, Value tensor, int64_t label) {
  int64_t stride = 1;
  for (size_t dim = labels.size(); dim-- > 0;) {
    if (labels[dim] == label) return stride;
    stride *= cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  }
  return 0;
}

artifact::ConvolutionT getInstruction(ConvolveOp op) {
  auto lhs = [&](int64_t label) { return strideOf(op.getLhsLabels(), op.getLhs(), label); };
  auto rhs = [&](int64_t label) { return strideOf(op.getRhsLabels(), op.getRhs(), label); };
  auto result = [&](int64_t label) { return strideOf(op.getResultLabels(), op.getResult(), label); };
  auto dim = [&](int64_t label, int64_t size) {
    return std::make_unique<artifact::ConvolutionDim>(size, lhs(label), rhs(label), result(label));
  };
  artifact::ConvolutionT instruction;
  Type element = cast<RankedTensorType>(op.getLhs().getType()).getElementType();
  instruction.element = getElementType(element, /*isUnsigned=*/false).value_or(artifact::ElementType::Bool);
  instruction.rounds = element != getSumType(element) && element == op.getType().getElementType();
  instruction.batch = dim(ConvolveOp::kBatch, op.getLhsSize(ConvolveOp::kBatch));
  instruction.groups = dim(ConvolveOp::kGroup, op.getLhsSize(ConvolveOp::kGroup));
  instruction.inputs = dim(ConvolveOp::kInput, op.getLhsSize(ConvolveOp::kInput));
  instruction.outputs = dim(ConvolveOp::kOutput, op.getRhsSize(ConvolveOp::kOutput));
  for (int64_t i = 0; i < op.getNumSpatialDims(); ++i) {
    int64_t label = ConvolveOp::kSpatial + i;
    instruction.spatial.emplace_back(op.getLhsSize(label), op.getResultSize(label), op.getRhsSize(label),
                                     op.getStrides()[i], op.getRhsDilations()[i], op.getLow()[i], lhs(label),
                                     rhs(label), result(label));
    instruction.lhs_dilations.push_back(op.getLhsDilations()[i]);
  }
  return instruction;
}

/// Where the library's fastest algorithms want another layout, they copy operands and result; sums that are cut need
/// parts of the result. (Seen of cuDNN 9.19's heuristics for an H200: the bytes of all three tensors and a little, for
/// filter gradients up to three times the result more.)
int64_t getWorkspaceBytes(ConvolveOp op) {
  constexpr int64_t kMost = 8 << 20, kLeast = 64 << 10;
  int64_t bytes = 0;
  for (Value value : {op.getLhs(), op.getRhs(), op.getResult()}) {
    auto type = cast<RankedTensorType>(value.getType());
    bytes += type.getNumElements() * (type.getElementTypeBitWidth() / 8);
  }
  return llvm::alignTo(bytes + std::min(bytes, kMost) + kLeast, 256);
}

}  // namespace

ConvolutionModel mlir::sgd::getCudnnConvolutions() {
  ConvolutionModel model;
  model.isTaken = [](ConvolveOp op) { return artifact::ConvolutionFormOf(getInstruction(op)).ok(); };
  model.workspaceBytes = getWorkspaceBytes;
  model.rounds = true;
  model.takesDilations = true;
  return model;
}
