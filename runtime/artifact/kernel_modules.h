// The kernels section of a cuda artifact: the text of one module (PTX) for each architecture.
//
// A text follows another one in the order of Artifact.architectures, each behind its length in bytes (64 bits,
// little-endian) and followed by a zero byte, which the driver's loader wants and the length does not count.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/artifact/container.h"
#include "runtime/artifact/program_generated.h"

namespace sgd::artifact {

inline constexpr std::string_view kCudaTarget = "cuda";

struct KernelModule {
  std::string_view architecture;  // sm_90
  std::string_view text;          // followed by a zero byte
};

// The section for texts in the order of the artifact's architectures.
std::string PackKernelModules(const std::vector<std::string>& texts);

// The modules of `section`, views of it and of `root`; InvalidArgument unless it holds one text per architecture and
// nothing else. The bytes are untrusted.
absl::StatusOr<std::vector<KernelModule>> ReadKernelModules(const Artifact& root, Bytes section);

// InvalidArgument unless ReadKernelModules succeeds, architectures are named and different, and each kernel has 1 to
// 1024 threads and a symbol that is a C identifier.
absl::Status CheckKernelModules(const Artifact& root, Bytes section);

}  // namespace sgd::artifact
