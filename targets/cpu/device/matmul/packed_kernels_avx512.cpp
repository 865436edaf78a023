// Matmuls for CPUs with AVX-512 F, BW, DQ and VL.
#include "targets/cpu/device/matmul/packed_kernels_template.h"

namespace sgd::cpu {

const PackedKernels* Avx512Kernels(artifact::ElementType element) { return KernelsOf<64, 14>(element); }

}  // namespace sgd::cpu
