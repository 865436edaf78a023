// The reduction loops, compiled with AVX2 and F16C.
#include "runtime/comm/kernels/reduce_kernels_impl.h"

namespace sgd::comm {

const ReduceKernel* FindAvx2ReduceKernel(ElementType element, ReduceKind reduce) { return Find(element, reduce); }

}  // namespace sgd::comm
