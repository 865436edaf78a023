// Matmuls for CPUs with AVX2, FMA and F16C.
#include "targets/cpu/device/matmul/packed_kernels_template.h"

namespace sgd::cpu {

const PackedKernels* Avx2Kernels(artifact::ElementType element) { return KernelsOf<32, 6>(element); }

}  // namespace sgd::cpu
