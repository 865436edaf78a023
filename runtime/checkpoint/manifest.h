// The metadata of a checkpoint: the position of training, the program that made it, and the checksum of its
// data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace sgd::checkpoint {

// Where training stood and what was trained. Feeds depend on step and seed alone, so these are also
// the position in the data.
struct TrainingPoint {
  uint64_t step = 0;  // steps done, hence the number of the next one
  uint64_t seed = 0;  // of shuffling and of the `init` program
  std::string program;
  std::string artifact_hash;                           // hexadecimal; for messages, another artifact may go on
  std::vector<std::pair<std::string, uint32_t>> mesh;  // that it was saved from
  std::string feed;   // describes the data order: "rows 1797, batch 128, tensors x y"; may be empty
  std::string carry;  // a hash of which outputs went to which inputs; empty in older checkpoints
  std::vector<std::pair<std::string, double>> metrics = {};  // means of the last evaluation by name; may be empty
};

struct Manifest {
  TrainingPoint point;
  // Which checksum of the file of tensors there is.
  enum class Checksum { kXxh3, kSha256 } checksum = Checksum::kXxh3;  // kSha256: of format 1
  uint64_t state_bytes = 0;                                           // of that file
  std::string state_checksum;                                         // hexadecimal
};

// JSON of format 2 with the manifest's own checksum.
std::string ManifestJson(const Manifest& manifest);

// InvalidArgument or DataLoss with what is wrong (no path): not JSON, another format version,
// missing fields, a checksum that does not match.
absl::StatusOr<Manifest> ParseManifest(std::string_view text);

}  // namespace sgd::checkpoint
