// Names of the state that compressed reductions keep from step to step, which the compiler adds to programs: no
// argument of a user's has such a name.
#pragma once

#include <string_view>

namespace sgd::artifact {

// What each rank has not sent yet, of all ranks: [ranks, ...]. Behind it comes the name of the state that is updated.
inline constexpr std::string_view kCompressionError = "compress/error/";
// The factor of a low-rank approximation from which the next step starts.
inline constexpr std::string_view kCompressionFactor = "compress/factor/";

// Whether the input starts from zeros where no file gives it.
inline bool IsCompressionState(std::string_view name) {
  return name.starts_with(kCompressionError) || name.starts_with(kCompressionFactor);
}

}  // namespace sgd::artifact
