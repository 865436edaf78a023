// Mapping of files by the POSIX calls; every failure becomes a status with the path and the
// system's reason.
#include "runtime/data/mapped_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace sgd::data {

absl::Status SystemError(const std::string& path, const char* action, int error_number) {
  return absl::Status(absl::ErrnoToStatusCode(error_number),
                      absl::StrCat(path, ": cannot ", action, ": ", strerror(error_number)));
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), mapping_(std::move(other.mapping_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(mapping_, other.mapping_);
  return *this;
}

MappedFile::~MappedFile() { Close(); }

void MappedFile::Close() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

absl::Status MappedFile::Map(const std::string& path, uint64_t size, bool writable) {
  if (size == 0) return absl::OkStatus();
  void* data = mmap(nullptr, size, writable ? PROT_READ | PROT_WRITE : PROT_READ, writable ? MAP_SHARED : MAP_PRIVATE,
                    descriptor_, 0);
  if (data == MAP_FAILED) return SystemError(path, "map", errno);
  mapping_ = artifact::FileMapping(data, size);
  return absl::OkStatus();
}

absl::StatusOr<MappedFile> MappedFile::OpenForReading(const std::string& path) {
  MappedFile file;
  // Non-blocking, so that a pipe given by mistake is refused instead of waited for.
  file.descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.descriptor_ < 0) return SystemError(path, "open", errno);
  struct stat info;
  if (fstat(file.descriptor_, &info) != 0) return SystemError(path, "read the size of", errno);
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": not a regular file"));
  }
  absl::Status status = file.Map(path, info.st_size, /*writable=*/false);
  if (!status.ok()) return status;
  return file;
}

absl::StatusOr<MappedFile> MappedFile::CreateShared(const std::string& path, uint64_t size) {
  MappedFile file;
  do {
    file.Close();
    file.descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file.descriptor_ < 0) return SystemError(path, "create", errno);
    if (flock(file.descriptor_, LOCK_EX | LOCK_NB) != 0) {
      return absl::UnavailableError(absl::StrCat(path, ": another run is writing this file"));
    }
    // Between the two calls above its last writer may have renamed the file, which is that run's result then.
  } while (!file.IsAt(path));
  if (ftruncate(file.descriptor_, 0) != 0) return SystemError(path, "empty", errno);
  // Blocks are reserved now: a store through the mapping could only report a full disk by a signal.
  const int error = size == 0 ? 0 : posix_fallocate(file.descriptor_, 0, size);
  absl::Status status =
      error != 0 ? SystemError(path, "reserve space for", error) : file.Map(path, size, /*writable=*/true);
  if (!status.ok()) {
    unlink(path.c_str());
    return status;
  }
  return file;
}

bool MappedFile::IsAt(const std::string& path) const {
  struct stat own, there;
  return fstat(descriptor_, &own) == 0 && lstat(path.c_str(), &there) == 0 && own.st_dev == there.st_dev &&
         own.st_ino == there.st_ino;
}

absl::StatusOr<MappedFile> MappedFile::JoinShared(const std::string& path, uint64_t size) {
  MappedFile file;
  file.descriptor_ = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file.descriptor_ < 0) return SystemError(path, "open", errno);
  struct stat info;
  if (fstat(file.descriptor_, &info) != 0) return SystemError(path, "read the size of", errno);
  if (static_cast<uint64_t>(info.st_size) != size) {
    return absl::DataLossError(absl::StrCat(path, ": has ", info.st_size, " bytes instead of ", size));
  }
  absl::Status status = file.Map(path, size, /*writable=*/true);
  if (!status.ok()) return status;
  return file;
}

absl::StatusOr<MappedFile> MappedFile::CreateInMemory(const std::string& name, uint64_t size) {
  MappedFile file;
  file.descriptor_ = memfd_create("sgd-state", MFD_CLOEXEC);
  if (file.descriptor_ < 0) return SystemError(name, "create", errno);
  // A store to a page that is not there could only report the lack of memory by a signal.
  const int error = size == 0 ? 0 : posix_fallocate(file.descriptor_, 0, static_cast<off_t>(size));
  if (error == ENOSPC || error == ENOMEM) {
    return absl::ResourceExhaustedError(
        absl::StrCat(name, ": needs ", size, " bytes of memory, which this host does not have; see --peer-copies"));
  }
  if (error != 0) return SystemError(name, "take memory for", error);
  if (absl::Status status = file.Map(name, size, /*writable=*/true); !status.ok()) return status;
  return file;
}

std::string MappedFile::PathInMemory() const { return absl::StrCat("/proc/self/fd/", descriptor_); }

absl::Status MappedFile::Read(const std::string& path, uint64_t offset, std::span<std::byte> target) const {
  return ReadAt(descriptor_, path, offset, target);
}

absl::Status ReadAt(int descriptor, const std::string& path, uint64_t offset, std::span<std::byte> target) {
  while (!target.empty()) {
    const ssize_t count = pread(descriptor, target.data(), target.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError(path, "read", errno);
    if (count == 0) return absl::DataLossError(absl::StrCat(path, ": has become shorter while it was read"));
    target = target.subspan(static_cast<size_t>(count));
    offset += static_cast<uint64_t>(count);
  }
  return absl::OkStatus();
}

void MappedFile::Release(std::span<const std::byte> part) const {
  if (part.empty()) return;
  // Whole pages, so the neighbours' ends too: they are read again from the file if they are needed.
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t begin = reinterpret_cast<uint64_t>(part.data()) / page * page;
  const uint64_t end = reinterpret_cast<uint64_t>(part.data() + part.size());
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

absl::Status MappedFile::Sync(const std::string& path) {
  if (fsync(descriptor_) != 0) return SystemError(path, "write", errno);
  return absl::OkStatus();
}

absl::Status SyncDirectory(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return SystemError(path, "open", errno);
  const int error = fsync(descriptor) != 0 ? errno : 0;
  close(descriptor);
  // Some file systems have no directory sync; the rename itself was still done.
  if (error != 0 && error != EINVAL) return SystemError(path, "write", error);
  return absl::OkStatus();
}

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace sgd::data
