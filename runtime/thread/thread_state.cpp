// /proc/PID/task/TID: stat, syscall and wchan.
#include "runtime/thread/thread_state.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace sgd {
namespace {

struct KnownCall {
  long number;
  const char* name;
  bool has_file = false;  // its first argument is a descriptor
  bool is_idle = false;
};

constexpr KnownCall kCalls[] = {
    {SYS_read, "read", true},
    {SYS_readv, "readv", true},
    {SYS_pread64, "pread", true},
    {SYS_preadv, "preadv", true},
    {SYS_write, "write", true},
    {SYS_writev, "writev", true},
    {SYS_pwrite64, "pwrite", true},
    {SYS_fsync, "fsync", true},
    {SYS_fdatasync, "fdatasync", true},
    {SYS_fallocate, "fallocate", true},
    {SYS_ftruncate, "ftruncate", true},
    {SYS_recvmsg, "recvmsg", true},
    {SYS_recvfrom, "recv", true},
    {SYS_sendmsg, "sendmsg", true},
    {SYS_sendto, "send", true},
    {SYS_ioctl, "ioctl", true},
    {SYS_flock, "flock", true},
    {SYS_close, "close", true},
    {SYS_openat, "open"},
    {SYS_msync, "msync"},
    {SYS_madvise, "madvise"},
    {SYS_munmap, "munmap"},
    {SYS_mmap, "mmap"},
    {SYS_futex, "futex", false, true},
    {SYS_ppoll, "poll", false, true},
    {SYS_epoll_pwait, "epoll_wait", false, true},
    {SYS_pselect6, "select", false, true},
    {SYS_nanosleep, "nanosleep", false, true},
    {SYS_clock_nanosleep, "nanosleep", false, true},
    {SYS_rt_sigtimedwait, "sigwait", false, true},
#ifdef SYS_poll
    {SYS_poll, "poll", false, true},
    {SYS_epoll_wait, "epoll_wait", false, true},
    {SYS_select, "select", false, true},
    {SYS_pause, "pause", false, true},
#endif
};

// The first bytes of a file of /proc; empty where it cannot be read.
std::string ReadStart(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  char text[512];
  const ssize_t size = read(file, text, sizeof(text));
  close(file);
  return size > 0 ? std::string(text, static_cast<size_t>(size)) : "";
}

std::string FileText(pid_t process, const std::string& descriptor) {
  char path[512];
  const uint64_t number = std::strtoull(descriptor.c_str(), nullptr, 16);
  const ssize_t size = readlink(absl::StrCat("/proc/", process, "/fd/", number).c_str(), path, sizeof(path));
  return size > 0 ? std::string(path, static_cast<size_t>(size)) : absl::StrCat("descriptor ", number);
}

// `text` is "running", "-1 SP PC" for a page fault, or "NUMBER ARGUMENTS... SP PC".
std::string CallText(pid_t process, const std::string& text) {
  char* end = nullptr;
  const long number = std::strtol(text.c_str(), &end, 10);
  if (end == text.c_str()) return "";
  if (number < 0) return "page fault";
  const auto* known = std::ranges::find(kCalls, number, &KnownCall::number);
  if (known == std::end(kCalls)) return absl::StrCat("system call ", number);
  const std::string arguments(absl::StripLeadingAsciiWhitespace(end));
  if (!known->has_file) return known->name;
  return absl::StrCat(known->name, " of ", FileText(process, arguments.substr(0, arguments.find(' '))));
}

}  // namespace

std::vector<pid_t> ThreadsOf(pid_t process) {
  std::vector<pid_t> threads;
  std::error_code error;
  for (std::filesystem::directory_iterator at(absl::StrCat("/proc/", process, "/task"), error), end;
       !error && at != end; at.increment(error)) {
    pid_t thread = 0;
    if (absl::SimpleAtoi(at->path().filename().string(), &thread)) threads.push_back(thread);
  }
  std::ranges::sort(threads);
  // Numbers start over at their limit.
  const auto first = std::ranges::find(threads, process);
  if (first != threads.end()) std::rotate(threads.begin(), first, first + 1);
  return threads;
}

std::optional<ThreadState> ReadThreadState(pid_t process, pid_t thread) {
  const std::string task = absl::StrCat("/proc/", process, "/task/", thread, "/");
  const std::string stat = ReadStart(task + "stat");
  const size_t name_end = stat.rfind(") ");  // a name may hold anything
  if (name_end == std::string::npos || name_end + 2 >= stat.size()) return std::nullopt;
  ThreadState state{.thread = thread, .state = stat[name_end + 2], .call = "", .wait_channel = ""};
  state.call = CallText(process, ReadStart(task + "syscall"));
  const std::string channel = ReadStart(task + "wchan");
  if (channel != "0") state.wait_channel = channel;
  return state;
}

bool IsStopped(const ThreadState& state) { return state.state == 'T' || state.state == 't'; }

bool IsIdle(const ThreadState& state) {
  const auto* known =
      std::ranges::find_if(kCalls, [&](const KnownCall& call) { return state.call == call.name && call.is_idle; });
  return state.state == 'S' && (state.call.empty() || known != std::end(kCalls));
}

std::string ThreadStateText(const ThreadState& state) {
  if (IsStopped(state)) return absl::StrCat("stopped by a signal", " (state ", std::string(1, state.state), ")");
  std::string text = absl::StrCat("state ", std::string(1, state.state));
  if (state.state == 'R') return text;
  if (!state.call.empty()) absl::StrAppend(&text, ": ", state.call);
  if (!state.wait_channel.empty()) absl::StrAppend(&text, ", in ", state.wait_channel);
  return text;
}

}  // namespace sgd
