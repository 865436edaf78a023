// The compiler, in process: text of a program in, an artifact out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace sgd::pjrt {

struct CompiledText {
  std::string artifact;
  double flops = 0;  // of a rank
  // Bytes of a rank.
  uint64_t arguments = 0, outputs = 0, aliased = 0, temporaries = 0, peak = 0;
};

// Compiles a program for `target`, as of sgdc's --target: this machine's CPU, or GPUs. The same text gives the same
// artifact, from memory the second time, or from the folder SGD_COMPILE_CACHE where that is set. InvalidArgument with
// the compiler's messages, which name `name`.
absl::StatusOr<std::shared_ptr<const CompiledText>> CompileText(std::string_view text, const std::string& name,
                                                                const std::string& target);

}  // namespace sgd::pjrt
