// Open, lock, and see that the file is still the one at the path: its last holder may have removed it in between.
#include "runtime/data/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "runtime/data/mapped_file.h"

namespace sgd::data {
namespace {

constexpr size_t kMaxHolder = 200;

std::string ThisProcess() {
  char host[65] = {};
  gethostname(host, sizeof(host) - 1);
  return absl::StrCat("process ", getpid(), " on host ", host);
}

// The text that the holder has written. It may be about to, and the text is not trusted.
std::string HolderOf(int descriptor) {
  char text[kMaxHolder];
  const ssize_t count = pread(descriptor, text, sizeof(text), 0);
  std::string holder;
  for (ssize_t i = 0; i < count && text[i] != '\n'; ++i) holder += absl::ascii_isprint(text[i]) ? text[i] : '?';
  return holder.empty() ? "another process" : holder;
}

bool IsAt(int descriptor, const std::string& path) {
  struct stat own, there;
  return fstat(descriptor, &own) == 0 && lstat(path.c_str(), &there) == 0 && own.st_dev == there.st_dev &&
         own.st_ino == there.st_ino;
}

// The file cannot do more than carry the lock, so a text that does not fit on the disk is no error.
void WriteHolder(int descriptor) {
  const std::string text = ThisProcess() + "\n";
  if (ftruncate(descriptor, 0) == 0 && pwrite(descriptor, text.data(), text.size(), 0) < 0) return;
}

}  // namespace

absl::StatusOr<RunLock> RunLock::Take(const std::string& path, const std::string& what) {
  RunLock lock;
  do {
    if (lock.descriptor_ >= 0) close(lock.descriptor_);
    lock.descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (lock.descriptor_ < 0) return SystemError(path, "create", errno);
    if (flock(lock.descriptor_, LOCK_EX | LOCK_NB) == 0) continue;
    if (errno == EWOULDBLOCK) {
      return absl::UnavailableError(absl::StrCat(what, ": is in use by another run (", HolderOf(lock.descriptor_),
                                                 "); wait for its end or name another place"));
    }
    lock.note_ = absl::StrCat(what, ": its file system has no locks: see that no other run writes there");
    break;
  } while (!IsAt(lock.descriptor_, path));
  lock.path_ = path;
  lock.owner_ = getpid();
  WriteHolder(lock.descriptor_);
  return lock;
}

RunLock::RunLock(RunLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      owner_(std::exchange(other.owner_, 0)),
      path_(std::move(other.path_)),
      note_(std::move(other.note_)) {}

RunLock& RunLock::operator=(RunLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(owner_, other.owner_);
  std::swap(path_, other.path_);
  std::swap(note_, other.note_);
  return *this;
}

RunLock::~RunLock() {
  // Removed while it is held, so that nobody else's file can be meant.
  if (owner_ == getpid()) unlink(path_.c_str());
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace sgd::data
