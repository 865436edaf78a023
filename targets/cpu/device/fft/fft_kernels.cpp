// Chooses among the instruction sets.
#include "targets/cpu/device/fft/fft_kernels.h"

namespace sgd::cpu {

template <typename T>
const FftKernels<T>& FftKernelsFor(InstructionSet set) {
  switch (set) {
    case InstructionSet::kAvx512:
      return Avx512FftKernels<T>();
    case InstructionSet::kAvx2:
      return Avx2FftKernels<T>();
    case InstructionSet::kBaseline:
      break;
  }
  return BaselineFftKernels<T>();
}

template const FftKernels<float>& FftKernelsFor<float>(InstructionSet);
template const FftKernels<double>& FftKernelsFor<double>(InstructionSet);

}  // namespace sgd::cpu
