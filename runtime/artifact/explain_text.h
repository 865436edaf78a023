// Explanations of collectives in words; compiler and sgd-inspect use the same ones.
#pragma once

#include <string>

#include "runtime/artifact/program_generated.h"

namespace sgd::artifact {

// "tensor<64x16xf32> from sgd.dot_general at model.py:3:7", "runs beside compute, which hides 20 of its 30 us".
std::string CauseText(const ExplainT& explain);

// "step 1 of 2: all_reduce, 6144 bytes sent, 13.0 us"; empty for an overlap.
std::string StepText(const ExplainT& explain);

// "CAUSE: FROM -> TO: STEP", or the cause alone.
std::string ExplainText(const ExplainT& explain);

}  // namespace sgd::artifact
