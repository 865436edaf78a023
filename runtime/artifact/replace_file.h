// Replaces a file as a whole: a reader of its path finds the earlier file or the complete new one.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sgd::artifact {

// `path` itself where it is no link. Else the path that its links lead to, whether or not there is a file. The
// system's error for links that lead to each other.
absl::StatusOr<std::string> ResolveLinks(const std::string& path);

// The status of `errno`: "PATH: cannot ACTION".
absl::Status SystemError(const char* action, const std::string& path);

// The folder of a file, with a slash at its end; "." for a path without folders.
std::string DirectoryOf(const std::string& path);

// Writes `bytes` to an open file, which errors call `path`.
absl::Status WriteAll(int descriptor, std::string_view bytes, const std::string& path);

// Writes `bytes` to a regular file with `mode` beside `path`, syncs it and renames it to `path`, where it replaces a
// file or a link. Errors name the path and the system's reason; a full disk leaves nothing behind.
absl::Status ReplaceFile(const std::string& path, std::string_view bytes, mode_t mode);

}  // namespace sgd::artifact
