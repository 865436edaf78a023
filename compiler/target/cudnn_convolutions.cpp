// sgd.convolve to the instruction that its form is asked of.
#include "compiler/target/cudnn_convolutions.h"

#include "compiler/export/convolution_instruction.h"
#include "compiler/export/export_types.h"
#include "dialects/sgd/label_strides.h"
#include "runtime/artifact/convolution_form.h"

using namespace mlir;
using namespace mlir::sgd;
namespace artifact = ::sgd::artifact;

namespace {

artifact::ConvolutionT getInstruction(ConvolveOp op) {
  auto lhs = [&](int64_t label) { return getLabelStride(op.getLhsLabels(), op.getLhs(), label); };
  auto rhs = [&](int64_t label) { return getLabelStride(op.getRhsLabels(), op.getRhs(), label); };
  auto result = [&](int64_t label) { return getLabelStride(op.getResultLabels(), op.getResult(), label); };
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
  constexpr int64_t kAlignment = 256;  // of what the library is given, anywhere in a buffer
  int64_t bytes = 0;
  for (Value value : {op.getLhs(), op.getRhs(), op.getResult()}) {
    auto type = cast<RankedTensorType>(value.getType());
    bytes += type.getNumElements() * (type.getElementTypeBitWidth() / 8);
  }
  return llvm::alignTo(bytes + std::min(bytes, kMost) + kLeast, kAlignment) + kAlignment;
}

}  // namespace

ConvolutionModel mlir::sgd::getCudnnConvolutions() {
  ConvolutionModel model;
  model.isTaken = [](ConvolveOp op) { return artifact::ConvolutionFormOf(getInstruction(op)).ok(); };
  model.workspaceBytes = getWorkspaceBytes;
  model.rounds = true;
  model.widensOperands = true;
  model.takesDilations = true;
  return model;
}

bool mlir::sgd::takesCudnnEpilogue(plan::ConvolutionOp convolution, plan::Epilogue epilogue) {
  std::optional<artifact::ConvolutionT> instruction = getConvolutionInstruction(convolution);
  if (!instruction) return false;
  absl::StatusOr<artifact::ConvolutionForm> form = artifact::ConvolutionFormOf(*instruction);
  if (!form.ok() || instruction->element == artifact::ElementType::F64) return false;
  return epilogue == plan::Epilogue::Accumulate ||
         (form->kind == artifact::ConvolutionKind::Forward && !form->flips && form->strides.size() == 2);
}
