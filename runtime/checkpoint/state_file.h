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
};

// Writes `image` to `path` and syncs it, past the page cache where the file system allows that: a copy through the
// cache takes ten times the processor time of the checksum. Calls `poll` now and then, and returns its error. Other
// errors are those of the system; the caller removes what is left of the file.
absl::StatusOr<FileDigest> WriteStateFile(const std::string& path, std::span<const std::byte> image,
                                          const std::function<absl::Status()>& poll);

// Reads all of a file.
absl::StatusOr<FileDigest> DigestFile(const std::string& path, Manifest::Checksum kind);

}  // namespace sgd::checkpoint
