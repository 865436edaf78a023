// Semantic checks of a Tiled: whatever a step touches, at any tile, lies inside the operand or the scratch memory that
// it names.
#pragma once

#include "absl/status/status.h"
#include "runtime/artifact/verify_operation.h"

namespace sgd::artifact {

absl::Status VerifyTiled(const VerifyContext& context, const Tiled& tiled);

}  // namespace sgd::artifact
