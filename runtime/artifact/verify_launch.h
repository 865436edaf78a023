// Checks of kernels and of what launches hand to them.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "runtime/artifact/program_generated.h"
#include "runtime/artifact/verify_operation.h"

namespace sgd::artifact {

// Alignment of kernels' buffers, in bytes: kernels may use aligned vector accesses.
inline constexpr uint64_t kBufferAlignment = 64;

// The table of kernels is consistent: outputs are buffers, and a combined kernel is made of kernels that are not. Names
// the kernel.
absl::Status VerifyKernels(const Artifact& root);

// A launch passes as many buffers and coordinates as its kernel takes, each buffer as large as the kernel needs it, and
// its range is not larger than the kernel's. No output is read-only or shares bytes with another buffer. `is_combined`:
// it runs as part of a combined kernel.
absl::Status VerifyLaunch(const VerifyContext& context, const Launch& launch, bool is_combined = false);

// All launches, each in one combined launch at most, and there at the position that the combined kernel has for its
// kernel.
absl::Status VerifyLaunchGroup(const VerifyContext& context, const LaunchGroup& group);

}  // namespace sgd::artifact
