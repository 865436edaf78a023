// Names of the state that compressed reductions keep from step to step, which the compiler adds to programs: no
// argument of a user's has such a name. Inputs say it by their role, InputRole::CompressionError; tensors of files that
// a program has no input for say it by these names alone.
#pragma once

#include <string_view>

namespace sgd::artifact {

// Prefix of the unsent errors of all ranks, [ranks, ...]; the name of the updated state follows.
inline constexpr std::string_view kCompressionError = "compress/error/";
// The factor of a low-rank approximation from which the next step starts.
inline constexpr std::string_view kCompressionFactor = "compress/factor/";

// Whether a tensor of this name is such state.
inline bool IsCompressionState(std::string_view name) {
  return name.starts_with(kCompressionError) || name.starts_with(kCompressionFactor);
}

}  // namespace sgd::artifact
