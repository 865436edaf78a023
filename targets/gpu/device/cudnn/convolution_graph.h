// A convolution as an operation graph of cuDNN.
#pragma once

#include "absl/status/statusor.h"
#include "runtime/artifact/convolution_form.h"
#include "runtime/library/epilogue.h"
#include "targets/gpu/device/cudnn/cudnn.h"

namespace sgd::cuda {

// The names that tensors have in the graph and in the variant pack.
enum class ConvolutionTensorId : int64_t { Image = 1, Filter = 2, Response = 3, Bias = 4, Sums = 5, Biased = 6 };

// The largest power of two, at most 16 bytes, that the addresses of tensors are multiples of.
struct ConvolutionAlignments {
  int64_t image = 16, filter = 16, response = 16, bias = 16;
};

// Sums in f32 for f16, bf16 and f32, in f64 for f64; all tensors in memory are of type `element`. With a residual
// the result is added to; a bias [features] and relu, which keeps NaN, go to sums before they are rounded, of forward
// convolutions only. Unimplemented for other types and for what cuDNN refuses.
absl::StatusOr<CudnnDescriptor> BuildConvolutionGraph(const Cudnn& cudnn, const artifact::ConvolutionForm& form,
                                                      artifact::ElementType element, const library::Epilogue& epilogue,
                                                      const ConvolutionAlignments& alignments);

}  // namespace sgd::cuda
