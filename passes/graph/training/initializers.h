// How parameters start where no file gives them.
#ifndef SGD_PASSES_GRAPH_TRAINING_INITIALIZERS_H
#define SGD_PASSES_GRAPH_TRAINING_INITIALIZERS_H

#include "llvm/Support/Error.h"
#include "passes/graph/expressions/tensor_math.h"

namespace mlir::sgd {

/// A distribution, and its bounds or its mean and deviation.
struct Initializer {
  enum class Kind : uint8_t { Constant, Uniform, Normal, TruncatedNormal };

  Kind kind = Kind::Constant;
  double a = 0;  ///< the constant, the lower bound or the mean
  double b = 0;  ///< the upper bound or the standard deviation
};

/// Reads how a tensor of `type` starts:
///
///   zeros, ones, constant(c)
///   uniform(a, b), normal(deviation), normal(mean, deviation), truncated_normal(deviation): within two deviations
///   glorot_uniform, glorot_normal, he_uniform, he_normal, lecun_uniform, lecun_normal: by fan-in and fan-out
///
/// Dimensions before the last two are the window of a convolution; of the last two, the first is the fan-in
/// (`x @ w`). Fails for anything else, and for numbers that no floats can be drawn by.
llvm::Expected<Initializer> parseInitializer(StringRef text, RankedTensorType type);

/// Writes the tensor; `draw` returns random words of a type.
Value writeInitial(TensorMath& math, const Initializer& initializer, RankedTensorType type,
                   llvm::function_ref<Value(RankedTensorType)> draw);

}  // namespace mlir::sgd

#endif
