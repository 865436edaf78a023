// Elementwise ops that become part of library calls; see passes.td.
#ifndef SGD_PASSES_KERNELS_EPILOGUES_PASSES_H
#define SGD_PASSES_KERNELS_EPILOGUES_PASSES_H

#include "mlir/Pass/Pass.h"
#include "passes/kernels/library/library_model.h"

namespace mlir {
namespace func {
class FuncOp;
}
namespace sgd {

#define GEN_PASS_DECL
#include "passes/kernels/epilogues/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/kernels/epilogues/passes.h.inc"

/// Passes that ask a target's libraries, which outlive them.
std::unique_ptr<Pass> createFuseEpiloguesPass(const LibraryModel& libraries);
std::unique_ptr<Pass> createPackWeightsPass(const LibraryModel& libraries);

}  // namespace sgd
}  // namespace mlir

#endif
