// Passes that shape the local program for execution: contractions, clusters and the order of ops.
#ifndef SGD_PASSES_SCHEDULE_PASSES_H
#define SGD_PASSES_SCHEDULE_PASSES_H

#include "mlir/Pass/Pass.h"
#include "passes/schedule/convolution_model.h"

namespace mlir {
namespace func {
class FuncOp;
}
namespace sgd {

#define GEN_PASS_DECL
#include "passes/schedule/passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/schedule/passes.h.inc"

/// sgd-form-convolutions for a target.
std::unique_ptr<Pass> createFormConvolutionsPass(ConvolutionModel model);

}  // namespace sgd
}  // namespace mlir

#endif
