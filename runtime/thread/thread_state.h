// The kernel's view of a thread that does not go on: its state, and the system call or page that it waits for.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace sgd {

struct ThreadState {
  pid_t thread = 0;
  char state = '?';          // as in /proc/PID/stat: R runs, S sleeps, D waits for a device, T is stopped
  std::string call;          // "read of /data/train.npy", "futex", "page fault"; empty while it runs or is unknown
  std::string wait_channel;  // function of the kernel, "folio_wait_bit_common"; empty where the kernel does not say
};

// In rising order, the first thread of the process first; empty once it has ended.
std::vector<pid_t> ThreadsOf(pid_t process);

// From /proc; nothing once the thread has ended. System calls of other processes are known where ptrace is allowed.
std::optional<ThreadState> ReadThreadState(pid_t process, pid_t thread);

// Whether it is stopped by a signal or a debugger.
bool IsStopped(const ThreadState& state);
// Whether it waits for other threads, or for descriptors: as threads do that have nothing to do.
bool IsIdle(const ThreadState& state);

// "state D: read of /data/train.npy, in folio_wait_bit_common".
std::string ThreadStateText(const ThreadState& state);

}  // namespace sgd
