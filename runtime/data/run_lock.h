// Keeps two runs from writing into one folder, or over one file, at the same time: a lock on a small file, held for the
// whole run and gone with its last process, however that ends.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sgd::data {

class RunLock {
 public:
  // Locks `path`, which is created; its text names the holder. Unavailable when another run holds it, naming the
  // process and host. `what` names the locked thing in that message. The lock is flock's: processes that are forked
  // later hold it too. File systems of several hosts keep it between hosts if they are mounted with locks, as NFS is
  // unless mounted with `nolock` or `local_lock`; where there are none at all, `note` says so and the run goes on.
  static absl::StatusOr<RunLock> Take(const std::string& path, const std::string& what);

  RunLock(RunLock&& other) noexcept;
  RunLock& operator=(RunLock&& other) noexcept;
  // Removes the file if this process has taken the lock, and not one that was forked from it.
  ~RunLock();

  // A note for the user; may be empty.
  const std::string& note() const { return note_; }
  const std::string& path() const { return path_; }

 private:
  RunLock() = default;

  int descriptor_ = -1;
  int owner_ = 0;  // process
  std::string path_;
  std::string note_;
};

}  // namespace sgd::data
