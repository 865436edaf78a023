// Reads --carry and --carry-json.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "runtime/train/carry_plan.h"
#include "runtime/train/program_view.h"

namespace sgd::train {

// "OUT:IN,OUT:IN" with names as in files (result3, arg2 or the model's); "none:IN" for an input that keeps its value,
// "none" alone for all. InvalidArgument names the pair at fault.
absl::StatusOr<CarryRequest> ParseCarry(const std::string& text, const ProgramView& program);

// A JSON list of [output, input], each a position or a name; an output may be null, for an input that keeps its value,
// and an empty list carries nothing. Errors begin with the path.
absl::StatusOr<CarryRequest> ReadCarryFile(const std::string& path, const ProgramView& program);

}  // namespace sgd::train
