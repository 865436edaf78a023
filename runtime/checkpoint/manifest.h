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

// A file of tensors.
struct StateFile {
  std::string name;  // in the checkpoint's folder
  uint64_t bytes = 0;
  std::string checksum;  // hexadecimal
  // Of a compressed file, what lies on the disk; `bytes` and `checksum` are of what it is decompressed to.
  uint64_t stored_bytes = 0;
  std::string stored_checksum = {};

  bool is_compressed() const { return !stored_checksum.empty(); }
  uint64_t bytes_on_disk() const { return is_compressed() ? stored_bytes : bytes; }
};

// The level with which zstd compresses files of tensors; 0: they are not compressed.
enum class ZstdLevel : int {};
inline constexpr ZstdLevel kNotCompressed{0};
// Levels above need much more memory.
inline constexpr int kLeastZstdLevel = 1, kMostZstdLevel = 19;

// The name of the only file of tensors, and of file `index` (from 0) of `count` that have pieces of them.
inline constexpr char kStateName[] = "state.safetensors";
std::string StateName(uint32_t index, uint32_t count);
// The end of the names of compressed files.
inline constexpr char kCompressedSuffix[] = ".zst";

struct Manifest {
  TrainingPoint point;
  // Which checksums of the files of tensors there are.
  enum class Checksum { kXxh3, kSha256 } checksum = Checksum::kXxh3;  // kSha256: of format 1
  std::vector<StateFile> files;  // one called kStateName, or more, called StateName; all are compressed, or none
  uint64_t frame_bytes = 0;      // of compressed files: see data::ZstdFrames

  bool has_pieces() const { return files.size() > 1; }
  bool are_compressed() const { return !files.empty() && files.front().is_compressed(); }
};

// JSON with the manifest's own checksum: of format 2 with one file, of format 3 with several, of format 4 where they
// are compressed.
std::string ManifestJson(const Manifest& manifest);

// InvalidArgument or DataLoss with what is wrong (no path): not JSON, another format version,
// missing fields, a checksum that does not match.
absl::StatusOr<Manifest> ParseManifest(std::string_view text);

}  // namespace sgd::checkpoint
