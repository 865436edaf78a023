// Options of XLA, which users give by jax.jit(f, compiler_options={...}). They say how XLA compiles, so this compiler
// has no use for them.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace sgd::pjrt {

// Checks an entry of xla.CompileOptionsProto.env_option_overrides. OK where XLA would take it, so that programs which
// are tuned for XLA run unchanged. InvalidArgument, with XLA's words, for a name that XLA does not have and for a value
// of another type.
absl::Status CheckXlaOption(std::string_view entry);

}  // namespace sgd::pjrt
