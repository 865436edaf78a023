// Contractions and convolutions become calls with what follows them, where the target's library computes it: the parts
// of sgd-fuse-epilogues.
#ifndef SGD_PASSES_SCHEDULE_EPILOGUES_H
#define SGD_PASSES_SCHEDULE_EPILOGUES_H

#include "dialects/fusion/fusion_dialect.h"
#include "passes/library/library_model.h"

namespace mlir::sgd {

/// What an epilogue reads besides the sums; null: it does not.
struct EpilogueOperands {
  Value residual = {}, bias = {}, preActivation = {};
};

/// The call that computes `op` with `epilogue`, at the builder's place; `extra` is the type of its second result, null
/// without one.
fusion::LibraryMatmulOp createCall(OpBuilder& builder, fusion::MatmulOp op, const EpilogueOperands& operands,
                                   ArrayRef<fusion::Epilogue> epilogue, Type extra = {});
fusion::LibraryConvolutionOp createCall(OpBuilder& builder, fusion::ConvolutionOp op, const EpilogueOperands& operands,
                                        ArrayRef<fusion::Epilogue> epilogue);

/// Products whose sum goes into gelu, or whose result is multiplied with gelu's derivative.
void fuseGelu(Block& block, const LibraryModel& libraries);

/// Products to which a bias, perhaps with relu behind it, or another tensor is added.
void fuseAdditions(Block& block, const LibraryModel& libraries);

/// Sums of an operand over what a product of it contracts.
void fuseSums(Block& block, const LibraryModel& libraries);

}  // namespace mlir::sgd

#endif
