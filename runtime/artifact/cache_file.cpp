#include "runtime/artifact/cache_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/replace_file.h"
#include "runtime/comm/control/unique_fd.h"

namespace sgd::artifact {
namespace {

absl::Status Failed(const std::string& path, const char* action) {
  const int error = errno;
  return absl::ErrnoToStatus(error, absl::StrCat(path, ": cannot ", action));
}

absl::Status CheckOwner(const std::string& path, const struct stat& info) {
  const char* found = nullptr;
  if (!S_ISREG(info.st_mode)) {
    found = "not a regular file";
  } else if (info.st_uid != geteuid() && info.st_uid != 0) {
    found = "owned by another user";
  } else if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    found = "writable by other users";
  }
  if (found == nullptr) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat(path, ": ", found, "; expected a file that you alone may write; delete it"));
}

}  // namespace

absl::StatusOr<std::string> ReadCacheFile(const std::string& path) {
  const comm::UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  if (!file.valid()) return Failed(path, "open");
  struct stat info;
  if (fstat(file.get(), &info) != 0) return Failed(path, "read the owner of");
  if (absl::Status status = CheckOwner(path, info); !status.ok()) return status;
  std::string bytes(static_cast<size_t>(info.st_size), '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = read(file.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Failed(path, "read");
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

absl::Status WriteCacheFile(const std::string& path, std::string_view bytes) { return ReplaceFile(path, bytes, 0644); }

}  // namespace sgd::artifact
