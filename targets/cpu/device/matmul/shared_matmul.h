// A large matmul by all threads: together they pack one operand, then each takes stripes of the other.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "targets/cpu/device/matmul/matmul_problem.h"
#include "targets/cpu/device/matmul/packed_kernels.h"
#include "targets/cpu/device/threads/thread_pool.h"
#include "targets/cpu/device/threads/thread_scratch.h"

namespace sgd::cpu {

// Whether MakeSharedMatmul takes the problem and is quicker than tiles that pack for themselves. Depends on shapes
// alone.
bool IsForSharedMatmul(const PackedKernels& kernels, const MatmulProblem& problem);

// The bits are those of PackedMultiply. Matrices of a batch follow each other. Pool, scratch and kernels must outlive
// the thunk. ResourceExhausted without memory for the packed operands.
device::PreparedThunk MakeSharedMatmul(ThreadPool& pool, ThreadScratch& scratch, const PackedKernels& kernels,
                                       const MatmulProblem& problem);

}  // namespace sgd::cpu
