// Chooses the reduction loops by what the processor can do.
#include "runtime/comm/kernels/reduce_kernels.h"

namespace sgd::comm {

const ReduceKernel* FindReduceKernel(ElementType element, ReduceKind reduce) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c")) {
    return FindAvx2ReduceKernel(element, reduce);
  }
#endif
  return FindBaselineReduceKernel(element, reduce);
}

}  // namespace sgd::comm
