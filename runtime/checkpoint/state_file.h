// The file of tensors of a checkpoint: how it is written beside steps, and its checksum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/checkpoint/manifest.h"

namespace sgd::checkpoint {

struct FileDigest {
  uint64_t bytes = 0;
  std::string checksum;  // hexadecimal
  // Of what was written compressed; else nothing.
  uint64_t stored_bytes = 0;
  std::string stored_checksum = {};
};

// The bytes of an image that are compressed together.
inline constexpr uint64_t kFrameBytes = uint64_t{1} << 20;

// Writes `image` to `path` and syncs it, past the page cache where the file system allows that: a copy through the
// cache takes ten times the processor time of the checksum. Calls `poll` now and then, and returns its error. Other
// errors are those of the system; the caller removes what is left of the file.
absl::StatusOr<FileDigest> WriteStateFile(const std::string& path, std::span<const std::byte> image,
                                          const std::function<absl::Status()>& poll);
// The same, in zstd frames of kFrameBytes.
absl::StatusOr<FileDigest> WriteCompressedStateFile(const std::string& path, std::span<const std::byte> image,
                                                    int zstd_level, const std::function<absl::Status()>& poll);

// About which share of `image` is left when it is compressed: of some frames, which are spread over it.
absl::StatusOr<double> EstimateCompression(std::span<const std::byte> image, int zstd_level);

// Reads all of a file.
absl::StatusOr<FileDigest> DigestFile(const std::string& path, Manifest::Checksum kind);

}  // namespace sgd::checkpoint
