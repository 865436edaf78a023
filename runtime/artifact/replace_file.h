// Replaces a file as a whole: a reader of its path finds the earlier file or the complete new one.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace sgd::artifact {

// Writes `bytes` to a regular file with `mode` beside `path`, syncs it and renames it to `path`, where it replaces a
// file or a link. Errors name the path and the system's reason; a full disk leaves nothing behind.
absl::Status ReplaceFile(const std::string& path, std::string_view bytes, mode_t mode);

}  // namespace sgd::artifact
