// Semantic checks of collectives; see verify.h for what they guarantee.
#pragma once

#include "runtime/artifact/verify_operation.h"

namespace sgd::artifact {

absl::Status VerifyCollective(const VerifyContext& context, const Collective& collective);

}  // namespace sgd::artifact
