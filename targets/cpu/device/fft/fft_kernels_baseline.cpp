// Fourier transforms for every CPU of the architecture.
#include "targets/cpu/device/fft/fft_kernels_template.h"

namespace sgd::cpu {

template <>
const FftKernels<float>& BaselineFftKernels<float>() {
  return KernelsOfWidth<float, 16>();
}

template <>
const FftKernels<double>& BaselineFftKernels<double>() {
  return KernelsOfWidth<double, 16>();
}

}  // namespace sgd::cpu
