// A call to the instruction that its form is asked of.
#include "targets/gpu/libraries/cudnn_convolutions.h"

#include "dialects/fusion/fusion_dialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "runtime/artifact/convolution_form.h"

using namespace mlir;
using namespace mlir::sgd;
namespace artifact = ::sgd::artifact;

namespace {

/// Bool stands for what is no float.
artifact::ElementType getFloatType(Type type) {
  using artifact::ElementType;
  return llvm::TypeSwitch<Type, ElementType>(type)
      .Case([](Float8E4M3FNType) { return ElementType::F8E4M3FN; })
      .Case([](Float8E5M2Type) { return ElementType::F8E5M2; })
      .Case([](Float16Type) { return ElementType::F16; })
      .Case([](BFloat16Type) { return ElementType::BF16; })
      .Case([](Float32Type) { return ElementType::F32; })
      .Case([](Float64Type) { return ElementType::F64; })
      .Default([](Type) { return ElementType::Bool; });
}

artifact::ConvolutionT getInstruction(const ConvolutionCall& call) {
  auto dim = [](const ConvolutionDim& dim) {
    return std::make_unique<artifact::ConvolutionDim>(dim.size, dim.lhs, dim.rhs, dim.result);
  };
  artifact::ConvolutionT instruction;
  instruction.element = getFloatType(call.operand);
  instruction.rounds = call.operand != getAccumulatorType(call.operand) && call.operand == call.result;
  instruction.batch = dim(call.batch);
  instruction.groups = dim(call.groups);
  instruction.inputs = dim(call.inputs);
  instruction.outputs = dim(call.outputs);
  for (const ConvolutionWindow& window : call.windows) {
    instruction.spatial.emplace_back(window.input, window.output, window.kernel, window.stride, window.dilation,
                                     window.low, window.lhs, window.rhs, window.result);
    instruction.lhs_dilations.push_back(window.lhsDilation);
  }
  return instruction;
}

bool isNarrowFloat(Type type) { return type.isF16() || type.isBF16(); }

}  // namespace

CallTypes mlir::sgd::gpu::getCudnnConvolutionTypes(Type operand, Type result) {
  // In f32, and in TF32, which has as many bits of mantissa as f16 and the exponent of bf16, without loss.
  if (isNarrowFloat(operand) && result.isF32()) operand = result;
  return {operand, isa<FloatType>(result) ? result : getAccumulatorType(result)};
}

bool mlir::sgd::gpu::isCudnnConvolution(const ConvolutionCall& call) {
  absl::StatusOr<artifact::ConvolutionForm> form = artifact::ConvolutionFormOf(getInstruction(call));
  if (!form.ok()) return false;
  const fusion::Epilogue& epilogue = call.epilogue;
  if (epilogue.empty()) return true;
  if (call.operand.isF64()) return false;
  if (epilogue == fusion::Epilogue{fusion::EpilogueStep::kResidual}) return true;
  return (epilogue == fusion::Epilogue{fusion::EpilogueStep::kBias} ||
          epilogue == fusion::Epilogue{fusion::EpilogueStep::kBias, fusion::EpilogueStep::kRelu}) &&
         form->kind == artifact::ConvolutionKind::Forward && !form->flips && form->strides.size() == 2;
}

/// Where the library's fastest algorithms want another layout, they copy operands and result; sums that are cut need
/// parts of the result. (Seen of cuDNN 9.19's heuristics for an H200: the bytes of all three tensors and a little, for
/// filter gradients up to three times the result more.)
int64_t mlir::sgd::gpu::getCudnnConvolutionWorkspace(const ConvolutionCall& call) {
  constexpr int64_t kMost = 8 << 20, kLeast = 64 << 10;
  constexpr int64_t kAlignment = 256;  // of the library's operands, anywhere in a buffer
  int64_t lhs = call.batch.size * call.groups.size * call.inputs.size,
          rhs = call.groups.size * call.inputs.size * call.outputs.size,
          result = call.batch.size * call.groups.size * call.outputs.size;
  for (const ConvolutionWindow& window : call.windows) {
    lhs *= window.input;
    rhs *= window.kernel;
    result *= window.output;
  }
  int64_t bytes =
      (lhs + rhs) * (call.operand.getIntOrFloatBitWidth() / 8) + result * (call.result.getIntOrFloatBitWidth() / 8);
  return llvm::alignTo(bytes + std::min(bytes, kMost) + kLeast, kAlignment) + kAlignment;
}
