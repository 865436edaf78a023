// A convolution in the terms of libraries: forward, or one of its two gradients, over tensors with features,
// windows and padding. The compiler asks whether it is one at all; devices pass the form to the library.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/artifact/program_generated.h"

namespace sgd::artifact {

// With image x, filter w and response y, where x's positions outside of it count as zero:
//   y[n, k, o..] = sum over c, t.. of x[n, c, o * stride + t * dilation - before] * w[k, c, t..]
// or, of that product, the gradients by x (from y and w) and by w (from x and y). `flips`: w[k, c, T - 1 - t..]
// instead.
enum class ConvolutionKind { Forward, DataGradient, FilterGradient };

// An image [n, groups * c, spatial..], filter [groups * k, c, spatial..] or response [n, groups * k, spatial..].
struct ConvolutionTensor {
  std::vector<int64_t> sizes, strides;  // strides count elements and are positive
  int64_t first = 0;                    // the element of the slice that it begins at
};

struct ConvolutionForm {
  ConvolutionKind kind = ConvolutionKind::Forward;
  bool flips = false;
  int64_t groups = 1;
  std::vector<int64_t> strides, dilations, before, after;  // by spatial dimension; padding is not negative
  ConvolutionTensor image, filter, response;               // one of them is the result, by kind
};

// The form with 2 or 3 spatial dimensions; unit dimensions are added and left out. Does not look at slices.
// Unimplemented, with the reason, for convolutions without one: integers, results of another type than the operands',
// sizes of 0, mixed or unusual directions of reading, groups whose features are not contiguous.
absl::StatusOr<ConvolutionForm> ConvolutionFormOf(const ConvolutionT& convolution);

}  // namespace sgd::artifact
