// Semantic checks of a Convolution: no window and no result reaches outside of its slice.
#pragma once

#include "absl/status/status.h"
#include "runtime/artifact/verify_operation.h"

namespace sgd::artifact {

absl::Status VerifyConvolution(const VerifyContext& context, const Convolution& convolution);

}  // namespace sgd::artifact
