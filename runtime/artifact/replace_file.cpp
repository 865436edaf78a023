#include "runtime/artifact/replace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <random>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "runtime/comm/control/unique_fd.h"

namespace sgd::artifact {
namespace {

// Makes the rename durable. A directory that cannot be opened for reading is not an error of the file.
void SyncDirectory(const std::string& path) {
  const comm::UniqueFd directory(open(DirectoryOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.valid()) fsync(directory.get());
}

// In the same folder, since rename does not cross file systems. The random part keeps processes with equal ids in
// different containers apart.
std::string AsidePath(const std::string& path) {
  return absl::StrCat(path, ".", getpid(), ".", absl::Hex(std::random_device()()), ".tmp");
}

}  // namespace

absl::Status SystemError(const char* action, const std::string& path) {
  const int error = errno;
  return absl::ErrnoToStatus(error, absl::StrCat(path, ": cannot ", action));
}

absl::Status WriteAll(int descriptor, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError("write", path);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

absl::StatusOr<std::string> ResolveLinks(const std::string& path) {
  constexpr int kMostLinks = 40;  // as Linux follows
  std::filesystem::path current = path;
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(std::filesystem::symlink_status(current, error)); ++links) {
    if (links == kMostLinks) return absl::ErrnoToStatus(ELOOP, absl::StrCat(path, ": cannot create"));
    const std::filesystem::path target = std::filesystem::read_symlink(current, error);
    if (error) return absl::ErrnoToStatus(error.value(), absl::StrCat(path, ": cannot read the link"));
    current = current.parent_path() / target;  // an absolute target replaces all
  }
  return current.string();
}

absl::Status ReplaceFile(const std::string& path, std::string_view bytes, mode_t mode) {
  const std::string aside = AsidePath(path);
  const comm::UniqueFd file(open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!file.valid()) return SystemError("create", path);
  absl::Status status = WriteAll(file.get(), bytes, path);
  if (status.ok() && fsync(file.get()) != 0) status = SystemError("write", path);
  if (status.ok() && std::rename(aside.c_str(), path.c_str()) != 0) status = SystemError("replace", path);
  if (status.ok())
    SyncDirectory(path);
  else
    unlink(aside.c_str());
  return status;
}

}  // namespace sgd::artifact
