// Checks of calls of functions of the process.
#pragma once

#include "absl/status/status.h"
#include "runtime/artifact/program_generated.h"
#include "runtime/artifact/verify_operation.h"

namespace sgd::artifact {

// Slices hold their tensors, the condition is a byte, and outputs overlap nothing else of the call.
absl::Status VerifyHostCall(const VerifyContext& context, const HostCall& call);

}  // namespace sgd::artifact
