// plan.convolution as artifacts have it.
#ifndef SGD_COMPILER_CONVOLUTION_INSTRUCTION_H
#define SGD_COMPILER_CONVOLUTION_INSTRUCTION_H

#include "dialects/plan/plan_dialect.h"
#include "runtime/artifact/program_generated.h"

namespace mlir::sgd {

/// All but the slices of memory; nullopt where the operands' element type is none of artifacts.
std::optional<::sgd::artifact::ConvolutionT> getConvolutionInstruction(plan::ConvolutionOp convolution);

}  // namespace mlir::sgd

#endif
