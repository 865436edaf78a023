// How ranks that were started one by one on one host find each other and come to share a segment.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/control/build_version.h"
#include "runtime/comm/shared_memory/shared_memory_segment.h"

namespace sgd::comm {

// The window of a rank that could not read its artifact.
inline constexpr uint64_t kUnknownWindow = ~uint64_t{0};

struct RendezvousOptions {
  std::string name;  // equal on all ranks of the job, different from other jobs' of this host
  uint32_t rank = 0;
  uint32_t size = 1;
  uint64_t window_bytes = 0;
  std::string plan;  // name of what is going to run, equal on all ranks; empty where it is not known
  absl::Duration timeout;
  std::string version = BuildVersion();  // equal on all ranks
  // Called every few milliseconds: returns an error of this rank, which then cannot join. The others receive it.
  std::function<absl::Status()> own_failure;
  // Called with one line on each process that has connected and is refused, of the first few. May be empty.
  std::function<void(const std::string& note)> note;
};

// Rank 0 listens on an abstract Unix socket named after the user and the job, makes the segment and
// passes its memfd to the others; nothing has a name in a file system, so nothing is left behind.
// On success the segment holds every rank's pid. Errors, which rank 0 has and the other ranks refer to: ranks that
// contradict each other (kFailedPrecondition), missing ones at the timeout (kDeadlineExceeded, naming them), one that
// failed or ended meanwhile (its own error or kUnavailable), a name in use by another job (kAlreadyExists). Who
// connects and does not say within two seconds, in one message of the right form, that he is a rank of this user's, is
// turned away and holds up nobody.
absl::StatusOr<std::shared_ptr<SharedMemorySegment>> Rendezvous(const RendezvousOptions& options);

}  // namespace sgd::comm
