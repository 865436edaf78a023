// An artifact described as JSON; the text that people read is made from the same description.
#pragma once

#include "nlohmann/json.hpp"
#include "runtime/artifact/reader.h"

namespace sgd::inspect {

// Which parts beside the summary. Sizes and offsets are bytes, per rank.
struct Parts {
  bool program = false;      // every instruction
  bool memory = false;       // every slice with the values in it and its lifetime
  bool collectives = false;  // operands of each collective
  bool kernels = false;      // every kernel: kernel_table.h
  bool explain = false;      // why each collective is there
};

// {"path", "hash", "compiler_version", "target", "cpu", "cpu_features", "architectures",
// "device": {"name", "flops", "half_flops", "memory_bandwidth"} or null, "mesh": [[name, size]],
// "ranks", "memory": {"private", "window",
//  "constants", "total"}, "kernels": {"count", "bytes", and as asked for "table"}, "programs": [{"name", "inputs",
//  "outputs", "instructions": {kind: count}, "flops", "sent_bytes", "collective_hash", "collectives", and as asked for
//  "code", "slices", "explain": [{"text", "loc", "cause", "seconds", and its other fields}]}]}
nlohmann::ordered_json Describe(const artifact::ArtifactFile& file, const Parts& parts);

}  // namespace sgd::inspect
