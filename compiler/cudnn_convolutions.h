// Which convolutions cuDNN takes, and how, said without it.
#ifndef SGD_COMPILER_CUDNN_CONVOLUTIONS_H
#define SGD_COMPILER_CUDNN_CONVOLUTIONS_H

#include "passes/schedule/convolution_model.h"

namespace mlir::sgd {

/// cuDNN's graph API, 9.0 and later: what has one of the forms of runtime/artifact/convolution_form.h.
ConvolutionModel getCudnnConvolutions();

}  // namespace mlir::sgd

#endif
