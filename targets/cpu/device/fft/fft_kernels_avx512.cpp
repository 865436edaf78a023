// Fourier transforms for CPUs with AVX-512.
#include "targets/cpu/device/fft/fft_kernels_template.h"

namespace sgd::cpu {

template <>
const FftKernels<float>& Avx512FftKernels<float>() {
  return KernelsOfWidth<float, 64>();
}

template <>
const FftKernels<double>& Avx512FftKernels<double>() {
  return KernelsOfWidth<double, 64>();
}

}  // namespace sgd::cpu
