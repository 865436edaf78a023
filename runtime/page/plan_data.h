// A plan of an artifact as the page shows it.
#pragma once

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "runtime/artifact/reader.h"

namespace sgd::page {

// The fields of a plan: {"name", "hash", "target", "compiler_version", "ranks", "mesh": [[name, size]], "device": rates
// or null, "constant_bytes", "stages": [{"private", "window", "host"}], "kernels": KernelsJson, "programs": [{"name",
// "stage": -1 where there are none, "flops", "sent_bytes", "locations", "scopes", "texts", "instructions": {column:
// [...]}, "loops": [[instruction, first behind it, trips]], "inputs", "outputs": [tensors]}], "records": as in the
// artifact}. Errors are those of UnpackRecords.
absl::StatusOr<nlohmann::json> PlanData(const artifact::ArtifactFile& file);

}  // namespace sgd::page
