// Which convolutions cuDNN takes, and how, said without it.
#ifndef SGD_TARGETS_GPU_LIBRARIES_CUDNN_CONVOLUTIONS_H
#define SGD_TARGETS_GPU_LIBRARIES_CUDNN_CONVOLUTIONS_H

#include "passes/kernels/library/library_model.h"

namespace mlir::sgd::gpu {

/// Results of f16 and bf16 are rounded as they are computed. There are f32 results of f32 operands only, to which f16
/// and bf16 are converted.
CallTypes getCudnnConvolutionTypes(Type operand, Type result);

/// Whether cuDNN's graph API, 9.0 and later, computes it: what has one of the forms of
/// runtime/artifact/convolution_form.h, with an epilogue that its engines have which give the same bits every time
/// (seen of cuDNN 9.19 for an H200): every kind adds to its result; a bias, with relu or without, goes with images that
/// are convolved forward, for which f64 and three dimensions have no engine.
bool isCudnnConvolution(const ConvolutionCall& call);

/// Bytes of a workspace.
int64_t getCudnnConvolutionWorkspace(const ConvolutionCall& call);

}  // namespace mlir::sgd::gpu

#endif
