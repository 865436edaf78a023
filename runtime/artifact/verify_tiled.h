// Semantic checks of a Tiled: every access of a step, at any tile, is inside the operand or the scratch memory that
// it names.
#pragma once

#include "absl/status/status.h"
#include "runtime/artifact/verify_operation.h"

namespace sgd::artifact {

absl::Status VerifyTiled(const VerifyContext& context, const Tiled& tiled);

}  // namespace sgd::artifact
