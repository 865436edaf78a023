// Fourier transforms for CPUs with AVX2 and FMA.
#include "targets/cpu/device/fft/fft_kernels_template.h"

namespace sgd::cpu {

template <>
const FftKernels<float>& Avx2FftKernels<float>() {
  return KernelsOfWidth<float, 32>();
}

template <>
const FftKernels<double>& Avx2FftKernels<double>() {
  return KernelsOfWidth<double, 32>();
}

}  // namespace sgd::cpu
