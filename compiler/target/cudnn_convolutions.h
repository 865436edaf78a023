// Which convolutions cuDNN takes, and how, said without it.
#ifndef SGD_COMPILER_CUDNN_CONVOLUTIONS_H
#define SGD_COMPILER_CUDNN_CONVOLUTIONS_H

#include "dialects/plan/plan_dialect.h"
#include "passes/schedule/convolution_model.h"

namespace mlir::sgd {

/// cuDNN's graph API, 9.0 and later: what has one of the forms of runtime/artifact/convolution_form.h.
ConvolutionModel getCudnnConvolutions();

/// Whether its engines that give the same bits every time compute the convolution with the epilogue (seen of cuDNN 9.19
/// for an H200): every kind adds to its result; a bias, with relu or without, goes with images that are convolved
/// forward, for which f64 and three dimensions have no engine.
bool takesCudnnEpilogue(plan::ConvolutionOp convolution, plan::Epilogue epilogue);

}  // namespace mlir::sgd

#endif
