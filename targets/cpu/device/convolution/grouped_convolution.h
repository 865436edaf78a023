// Convolutions of many groups with few features each, such as depthwise ones, as a thunk.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "targets/cpu/device/matmul/packed_kernels.h"
#include "targets/cpu/device/threads/thread_pool.h"
#include "targets/cpu/device/threads/thread_scratch.h"

namespace sgd::cpu {

// Null where this is not the better way: with one group, with output features that fill vectors by themselves, in
// layouts whose results do not follow each other from group to group, for elements that are narrower than their
// accumulators. ResourceExhausted without memory for what is packed. Pool and scratch must outlive the thunk. The bits
// depend on sizes and strides alone.
device::PreparedThunk MakeGroupedConvolution(ThreadPool& pool, ThreadScratch& scratch, const PackedKernels& kernels,
                                             const artifact::Convolution& convolution, const device::MemoryMap& memory);

}  // namespace sgd::cpu
