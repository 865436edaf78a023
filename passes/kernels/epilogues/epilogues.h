// Contractions and convolutions become calls with what follows them, where the target's library computes it: the parts
// of sgd-fuse-epilogues.
#ifndef SGD_PASSES_KERNELS_EPILOGUES_EPILOGUES_H
#define SGD_PASSES_KERNELS_EPILOGUES_EPILOGUES_H

#include "dialects/fusion/fusion_dialect.h"
#include "passes/kernels/library/library_model.h"

namespace mlir::sgd {

/// The operands of epilogues; null: none.
struct EpilogueOperands {
  Value residual = {}, bias = {}, preActivation = {};
};

/// The call that computes `op` with `epilogue`, at the builder's place; `extra` is the type of its second result, null
/// without one.
fusion::LibraryMatmulOp createCall(OpBuilder& builder, fusion::MatmulOp op, const EpilogueOperands& operands,
                                   const fusion::Epilogue& epilogue, Type extra = {});
fusion::LibraryConvolutionOp createCall(OpBuilder& builder, fusion::ConvolutionOp op, const EpilogueOperands& operands,
                                        const fusion::Epilogue& epilogue);

/// Fuses gelu of a matmul, and the multiplication of a matmul with gelu's derivative.
void fuseGelu(Block& block, const LibraryModel& libraries);

/// Fuses a bias, perhaps with relu behind it, or a residual that is added to a matmul or convolution.
void fuseAdditions(Block& block, const LibraryModel& libraries);

/// Fuses the reduction of an operand over the dimensions that a matmul of it contracts.
void fuseReductions(Block& block, const LibraryModel& libraries);

}  // namespace mlir::sgd

#endif
