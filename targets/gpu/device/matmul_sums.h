// A product and an operand's sums as two products, for libraries that have no kernel for both at once.
#pragma once

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "targets/gpu/device/cuda_streams.h"

namespace sgd::cuda {

// Makes the thunk of a product on the same memory.
using MakeProduct = std::function<absl::StatusOr<std::unique_ptr<device::Thunk>>(const artifact::Matmul&)>;

// Of a verified `matmul` with sums: the product without them, then the operand times a vector of ones, which is written
// to the beginning of the workspace each time. ResourceExhausted where the workspace does not hold it.
absl::StatusOr<std::unique_ptr<device::Thunk>> MakeProductThenSums(CudaStreams& streams, const artifact::Matmul& matmul,
                                                                  const device::MemoryMap& memory,
                                                                  const MakeProduct& make_product);

}  // namespace sgd::cuda
