// Semantic checks of a LinearAlgebra: there is such a call, every slice holds the batch's tensors, and what is written
// shares no byte with anything else.
#pragma once

#include "absl/status/status.h"
#include "runtime/artifact/verify_operation.h"

namespace sgd::artifact {

absl::Status VerifyLinearAlgebra(const VerifyContext& context, const LinearAlgebra& call);

}  // namespace sgd::artifact
