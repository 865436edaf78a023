// A measured step, as sgdrun --trace writes it, in the form in which the page shows predicted ones.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "runtime/artifact/reader.h"

namespace sgd::page {

// {"program", "tick": seconds of a unit of time, "ranks": [{"rank", "stage", "rows": [{"stream", "name", "gap",
// "length", "instruction"}]}]} of the trace in the file `path`, which was measured with `plan`. NotFound and
// InvalidArgument where there is no such file, or it is no trace, or one of another artifact or plan; the message names
// the file.
absl::StatusOr<nlohmann::json> ReadMeasuredTrace(const std::string& path, const artifact::ArtifactFile& plan);

}  // namespace sgd::page
