// The artifact's kernels, with what a step launches of them.
#pragma once

#include "nlohmann/json.hpp"
#include "runtime/artifact/reader.h"

namespace sgd::page {

// [{"name", "ops", "loc", "schedule", "launches", "combined", "blocks", "threads", "shared_bytes", "access_bytes",
// "flops",
//   "bytes", "seconds"}], the kernels that take most time of a step, by estimate, first. launches: in a step of each
// program together; combined: how many of these are the work of combined kernels; blocks: of the first launch, on a
// CPU its range. Work and seconds are of one launch.
nlohmann::ordered_json KernelsJson(const artifact::Artifact& root);

}  // namespace sgd::page
