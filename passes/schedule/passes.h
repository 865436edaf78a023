// Passes that shape the local program for execution: contractions, clusters and the order of ops.
#ifndef SGD_PASSES_SCHEDULE_PASSES_H
#define SGD_PASSES_SCHEDULE_PASSES_H

#include "mlir/Pass/Pass.h"
#include "passes/library/library_model.h"

namespace mlir {
namespace func {
class FuncOp;
}
namespace sgd {

#define GEN_PASS_DECL
#include "passes/schedule/passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/schedule/passes.h.inc"

/// Passes that ask a target's libraries, which outlive them.
std::unique_ptr<Pass> createLowerConvolutionsPass(const LibraryModel& libraries);
std::unique_ptr<Pass> createLowerDotGeneralsPass(const LibraryModel& libraries);
std::unique_ptr<Pass> createPackWeightsPass(const LibraryModel& libraries);
std::unique_ptr<Pass> createFuseEpiloguesPass(const LibraryModel& libraries);

}  // namespace sgd
}  // namespace mlir

#endif
