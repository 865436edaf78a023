// Files of caches: results that this user computed before and may compute again. Reading one must never be a risk, and
// failing to write one must never be an error of the run.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sgd::artifact {

// Reads the file at `path`. NotFound without one. PermissionDenied unless it is a regular file that belongs to this
// user or to root and that nobody else may write: another user could have chosen its contents, and a FIFO never ends.
// Follows no symbolic link at `path` itself.
absl::StatusOr<std::string> ReadCacheFile(const std::string& path);

// Replaces the file at `path`: writes aside, syncs and renames, so that no damaged file gets that name. On errors, a
// full disk included, nothing is left behind.
absl::Status WriteCacheFile(const std::string& path, std::string_view bytes);

}  // namespace sgd::artifact
