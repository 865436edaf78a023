// The compiler, in process: text of a program in, an artifact out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/library/compiler_library.h"

namespace sgd::pjrt {

struct CompiledText {
  std::string text;  // the program that was compiled
  std::string artifact;
  compiler::Metrics metrics;
};

// Compiles a program for `target`, as of sgdc's --target: this machine's CPU, or GPUs. The same text gives the same
// artifact, from memory the second time, or from the folder SGD_COMPILE_CACHE where that is set. InvalidArgument with
// the compiler's messages, which name `name`.
absl::StatusOr<std::shared_ptr<const CompiledText>> CompileText(std::string_view text, const std::string& name,
                                                                const std::string& target);

// The program of one partition, behind partitioning: StableHLO, as `sgdc --emit=stablehlo` prints it. Compiles as far
// as that level anew, as CompileText does. InvalidArgument with the compiler's messages.
absl::StatusOr<std::string> PartitionText(std::string_view text, const std::string& name, const std::string& target);

}  // namespace sgd::pjrt
