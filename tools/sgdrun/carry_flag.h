// Reads --carry and --carry-json.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "runtime/exec/carry.h"
#include "tools/sgdrun/program_view.h"

namespace sgd::sgdrun {

// "OUT:IN,OUT:IN" with names as in files (result3, arg2 or the model's). InvalidArgument names the
// pair at fault.
absl::StatusOr<exec::CarryPairs> ParseCarry(const std::string& text, const ProgramView& program);

// A JSON list of [output, input], each a position or a name. Errors begin with the path.
absl::StatusOr<exec::CarryPairs> ReadCarryFile(const std::string& path, const ProgramView& program);

// InvalidArgument when a pair differs in type or sharding, or an input is filled twice.
absl::Status CheckCarry(const exec::CarryPairs& pairs, const ProgramView& program);

}  // namespace sgd::sgdrun
