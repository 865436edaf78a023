// Fourier transforms in numbers: form.h asks here for the kinds that are transforms.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/linear_algebra/form.h"

namespace sgd::linear_algebra {

// LAPACK's integers, and counts of elements here, are of 32 bits.
inline constexpr uint64_t kMostElements = (uint64_t{1} << 31) - 1;

// Reals, or both parts of numbers, over the transformed dimensions of which the last one is of `size`.
std::vector<Tensor> TransformTensors(const Form& form, uint64_t size, bool is_real, bool is_paired);

// As WhyNot; options are those of the kind.
std::string WhyNoTransform(const Form& form);

// Elements of working memory: spectra of transforms to reals over several dimensions, and large rows: between their two
// steps (rounded up to vectors), and before and behind them where one side is real.
uint64_t TransformWork(const Form& form);

// Floating-point operations, about.
uint64_t TransformFlops(const Form& form);

}  // namespace sgd::linear_algebra
