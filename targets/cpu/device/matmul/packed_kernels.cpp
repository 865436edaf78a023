// Chooses among the instruction sets.
#include "targets/cpu/device/matmul/packed_kernels.h"

namespace sgd::cpu {

InstructionSet BestInstructionSet() {
  __builtin_cpu_init();
  const bool has_avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  if (!has_avx2) return InstructionSet::kBaseline;
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return has_avx512 ? InstructionSet::kAvx512 : InstructionSet::kAvx2;
}

const PackedKernels* PackedKernelsFor(InstructionSet set, artifact::ElementType element) {
  switch (set) {
    case InstructionSet::kAvx512:
      return Avx512Kernels(element);
    case InstructionSet::kAvx2:
      return Avx2Kernels(element);
    case InstructionSet::kBaseline:
      return BaselineKernels(element);
  }
  return nullptr;
}

}  // namespace sgd::cpu
