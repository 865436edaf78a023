// Semantic checks of an Attention: no tensor reaches outside of its slice, and what is written shares no byte with
// anything else.
#pragma once

#include "absl/status/status.h"
#include "runtime/artifact/verify_operation.h"

namespace sgd::artifact {

absl::Status VerifyAttention(const VerifyContext& context, const Attention& attention);

}  // namespace sgd::artifact
