// An artifact described as JSON; the text that people read is made from the same description.
#pragma once

#include "nlohmann/json.hpp"
#include "runtime/artifact/reader.h"
#include "tools/sgd-inspect/parts.h"

namespace sgd::inspect {

// {"path", "hash", "plan", "compiler_version", "target", "cpu", "cpu_features", "architectures",
// "device": {"name", "flops", "half_flops", "memory_bandwidth"} or null, "mesh": [[name, size]],
// "ranks", "memory": {"private", "window",
//  "constants", "total"}, "kernels": {"count", "bytes", and as asked for "table"}, "programs": [{"name", "inputs",
//  "outputs", "instructions": {kind: count}, "flops", "sent_bytes", "collective_hash", "collectives", and as asked for
//  "code", "slices", "explain": [{"text", "loc", "cause", "seconds", and its other fields}]}]}
nlohmann::ordered_json Describe(const artifact::ArtifactFile& file, const Parts& parts);

}  // namespace sgd::inspect
