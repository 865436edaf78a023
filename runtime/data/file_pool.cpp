// Descriptors are opened when they are needed; the one that was not used for longest is closed.
#include "runtime/data/file_pool.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "runtime/data/mapped_file.h"

namespace sgd::data {
namespace {

bool IsSameFile(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

// Non-blocking, so that a pipe given by mistake is refused instead of waited for.
absl::StatusOr<comm::UniqueFd> OpenFile(const std::string& path, struct stat& info) {
  comm::UniqueFd descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!descriptor.valid()) return SystemError(path, "open", errno);
  if (fstat(descriptor.get(), &info) != 0) return SystemError(path, "read the size of", errno);
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, ": not a regular file"));
  return descriptor;
}

}  // namespace

absl::StatusOr<size_t> FilePool::Add(const std::string& path) {
  File file{path};
  absl::StatusOr<comm::UniqueFd> descriptor = OpenFile(path, file.info);
  if (!descriptor.ok()) return descriptor.status();
  files_.push_back(std::move(file));
  Keep(files_.size() - 1, std::make_shared<const comm::UniqueFd>(*std::move(descriptor)));
  return files_.size() - 1;
}

FilePool::Descriptor FilePool::Find(size_t file) const {
  const std::lock_guard lock(mutex_);
  const auto at = std::ranges::find(open_, file, &Open::file);
  if (at == open_.end()) return nullptr;
  open_.splice(open_.begin(), open_, at);
  return at->descriptor;
}

void FilePool::Keep(size_t file, const Descriptor& descriptor) const {
  const std::lock_guard lock(mutex_);
  open_.push_front({file, descriptor});
  if (open_.size() > most_open_) open_.pop_back();  // threads that read it still have theirs
}

absl::StatusOr<FilePool::Descriptor> FilePool::DescriptorOf(size_t file) const {
  if (Descriptor kept = Find(file)) return kept;
  struct stat info;
  absl::StatusOr<comm::UniqueFd> opened = OpenFile(path(file), info);
  if (!opened.ok()) return opened.status();
  if (!IsSameFile(info, files_[file].info)) {
    return absl::DataLossError(absl::StrCat(path(file),
                                            ": has changed since this run began; expected the same file until its "
                                            "end; write new data under another name"));
  }
  auto descriptor = std::make_shared<const comm::UniqueFd>(*std::move(opened));
  Keep(file, descriptor);
  return descriptor;
}

absl::Status FilePool::Read(size_t file, uint64_t offset, std::span<std::byte> target, ReadWatch& watch) const {
  const WatchedRead read(watch, path(file), target.size());
  absl::StatusOr<Descriptor> descriptor = DescriptorOf(file);
  if (!descriptor.ok()) return descriptor.status();
  return ReadAt((*descriptor)->get(), path(file), offset, target);
}

void FilePool::Announce(size_t file, uint64_t offset, uint64_t size) const {
  absl::StatusOr<Descriptor> descriptor = DescriptorOf(file);
  if (!descriptor.ok()) return;
  posix_fadvise((*descriptor)->get(), static_cast<off_t>(offset), static_cast<off_t>(size), POSIX_FADV_WILLNEED);
}

}  // namespace sgd::data
