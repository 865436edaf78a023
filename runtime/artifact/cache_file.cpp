#include "runtime/artifact/cache_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "runtime/comm/unique_fd.h"

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

absl::Status WriteAll(int descriptor, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed(path, "write");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return fsync(descriptor) == 0 ? absl::OkStatus() : Failed(path, "write");
}

// A file of this process alone. A name that is taken belonged to a process that ended before it renamed.
comm::UniqueFd CreateAside(const std::string& aside) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  comm::UniqueFd file(open(aside.c_str(), kFlags, 0644));
  if (file.valid() || errno != EEXIST || unlink(aside.c_str()) != 0) return file;
  return comm::UniqueFd(open(aside.c_str(), kFlags, 0644));
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

absl::Status WriteCacheFile(const std::string& path, std::string_view bytes) {
  const std::string aside = absl::StrCat(path, ".", getpid(), ".tmp");
  const comm::UniqueFd file = CreateAside(aside);
  if (!file.valid()) return Failed(path, "create");
  absl::Status status = WriteAll(file.get(), bytes, path);
  if (status.ok() && std::rename(aside.c_str(), path.c_str()) != 0) status = Failed(path, "replace");
  if (!status.ok()) unlink(aside.c_str());
  return status;
}

}  // namespace sgd::artifact
