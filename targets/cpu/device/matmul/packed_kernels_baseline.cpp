// Matmuls for any x86-64 CPU, and without fused multiply-add in hardware.
#include "targets/cpu/device/matmul/packed_kernels_template.h"

namespace sgd::cpu {

const PackedKernels* BaselineKernels(artifact::ElementType element) { return KernelsOf<16, 6>(element); }

}  // namespace sgd::cpu
