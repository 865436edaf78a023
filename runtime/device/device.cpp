// Addresses of slices: the one thing that every device computes alike.
#include "runtime/device/device.h"

namespace sgd::device {

absl::StatusOr<std::unique_ptr<Node>> Device::PrepareAttention(const artifact::Attention&, const MemoryMap&) {
  return absl::UnimplementedError("this device has no library for attention; compile the model for it");
}

absl::StatusOr<std::unique_ptr<Node>> Device::PrepareLinearAlgebra(const artifact::LinearAlgebra&, const MemoryMap&) {
  return absl::UnimplementedError(
      "this device has no library for decompositions and solvers of linear algebra; compile the model for cpu");
}

std::byte* MemoryMap::Address(const artifact::Slice& slice) const {
  switch (slice.space()) {
    case artifact::Space::Private:
      return private_base + slice.offset();
    case artifact::Space::Window:
      return window_base + slice.offset();
    case artifact::Space::Constant:
      // The verifier has refused instructions that write to constants.
      return const_cast<std::byte*>(constant_base) + slice.offset();
    case artifact::Space::Scratch:
      return nullptr;
  }
  return nullptr;
}

}  // namespace sgd::device
