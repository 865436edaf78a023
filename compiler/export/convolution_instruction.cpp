// Labels of dimensions become places in tables.
#include "compiler/export/convolution_instruction.h"

#include "compiler/export/export_types.h"
#include "runtime/artifact/epilogue.h"

using namespace mlir;
using namespace mlir::sgd;
namespace artifact = ::sgd::artifact;

std::optional<artifact::ConvolutionT> mlir::sgd::getConvolutionInstruction(plan::ConvolutionOp convolution) {
  artifact::ConvolutionT instruction;
  Type operand = convolution.getLhs().getType().getElementType();
  auto element = getElementType(operand, /*isUnsigned=*/false);
  if (!element) return std::nullopt;
  instruction.element = *element;
  instruction.rounds =
      operand != getAccumulatorType(operand) && operand == convolution.getResult().getType().getElementType();
  ArrayRef<int64_t> sizes = convolution.getSizes(), lhs = convolution.getLhsStrides(),
                    rhs = convolution.getRhsStrides(), result = convolution.getResultStrides();
  using Dim = artifact::ConvolutionDim;
  instruction.batch = std::make_unique<Dim>(sizes[0], lhs[0], 0, result[0]);
  instruction.groups = std::make_unique<Dim>(sizes[1], lhs[1], rhs[0], result[1]);
  instruction.inputs = std::make_unique<Dim>(sizes[2], lhs[2], rhs[1], 0);
  instruction.outputs = std::make_unique<Dim>(sizes[3], 0, rhs[2], result[2]);
  for (int64_t dim = 0; dim < convolution.getNumSpatialDims(); ++dim)
    instruction.spatial.emplace_back(convolution.getInputs()[dim], convolution.getOutputs()[dim],
                                     convolution.getKernels()[dim], convolution.getStrides()[dim],
                                     convolution.getDilations()[dim], convolution.getLow()[dim], lhs[3 + dim],
                                     rhs[3 + dim], result[3 + dim]);
  if (auto dilations = convolution.getLhsDilations())
    instruction.lhs_dilations.assign(dilations->begin(), dilations->end());
  instruction.epilogue = artifact::StepsOf(convolution.getEpilogue());
  instruction.allows_tf32 = convolution.getTf32();
  return instruction;
}
