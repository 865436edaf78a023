// What passes know of how a target computes convolutions.
#ifndef SGD_PASSES_SCHEDULE_CONVOLUTION_MODEL_H
#define SGD_PASSES_SCHEDULE_CONVOLUTION_MODEL_H

#include <functional>

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

struct ConvolutionModel {
  /// Whether the target's library computes it; what it does not is a kernel. Null: all are the library's.
  std::function<bool(ConvolveOp)> isTaken;
  /// Memory that the library may use while it computes it, in bytes. Null: none.
  std::function<int64_t(ConvolveOp)> workspaceBytes;
  /// Results of f16 and bf16 are rounded to these as they are computed.
  bool rounds = false;
  /// The library has f32 results of f32 operands only: operands of f16 and bf16 are converted for them.
  bool widensOperands = false;
  /// An lhs with dilations is the library's to read; else each kind of window on it is a convolution of its own.
  bool takesDilations = false;
};

}  // namespace mlir::sgd

#endif
