// The reduction loops for any x86-64 processor.
#include "runtime/comm/kernels/reduce_kernels_impl.h"

namespace sgd::comm {

const ReduceKernel* FindBaselineReduceKernel(ElementType element, ReduceKind reduce) { return Find(element, reduce); }

}  // namespace sgd::comm
