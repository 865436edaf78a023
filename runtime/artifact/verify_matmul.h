// Semantic checks of matmuls; see verify.h for what they guarantee.
#pragma once

#include "runtime/artifact/verify_operation.h"

namespace sgd::artifact {

absl::Status VerifyMatmul(const VerifyContext& context, const Matmul& matmul);

}  // namespace sgd::artifact
