// A handler writes into memory that is there already: it allocates nothing and takes no lock.
#include "runtime/process/thread_stack.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <string_view>

#include "absl/debugging/symbolize.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/thread/spawn_thread.h"

namespace sgd::process {
namespace {

constexpr int kMostFrames = 64;
constexpr size_t kAlternateStack = 128 << 10;

// The stack that a thread is asked for. `asked` is the thread, its negative while the handler writes, else 0.
std::atomic<pid_t> asked = 0;
std::atomic<int> frame_count = 0;
std::array<void*, kMostFrames> frames;
std::atomic<bool> answers = false;

void* ProgramCounter(const void* context) {
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<void*>(registers.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<void*>(registers.pc);
#else
#error "the program counter of this processor"
#endif
}

// An answer that comes after its asker has gone finds another request, or none.
void Answer(int /*signal*/, siginfo_t* /*info*/, void* context) {
  const int error = errno;
  pid_t self = gettid();
  const pid_t writing = -self;
  if (asked.compare_exchange_strong(self, writing)) {
    void* const interrupted = ProgramCounter(context);
    int count = backtrace(frames.data(), kMostFrames);
    // The handler's own frames go first; nothing else is there where the interrupted code cannot be unwound.
    void** const end = frames.data() + count;
    void** const at = std::find(frames.data(), end, interrupted);
    count = at == end ? 1 : static_cast<int>(std::move(at, end, frames.data()) - frames.data());
    frames[0] = interrupted;
    frame_count.store(count, std::memory_order_release);
  }
  errno = error;
}

bool IsAnsweredUntil(absl::Time end) {
  while (frame_count.load(std::memory_order_acquire) == 0) {
    if (SteadyNow() > end) return false;
    absl::SleepFor(absl::Milliseconds(1));
  }
  return true;
}

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

void AnswerStackRequests() {
  // Loads the unwinder, which a handler must not.
  std::array<void*, 1> unused;
  static_cast<void>(backtrace(unused.data(), static_cast<int>(unused.size())));
  static std::array<char, kAlternateStack> memory;
  const stack_t stack = {.ss_sp = memory.data(), .ss_flags = 0, .ss_size = memory.size()};
  stack_t before = {};
  if (sigaltstack(nullptr, &before) == 0 && (before.ss_flags & SS_DISABLE) != 0) sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = Answer;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  answers.store(sigaction(StackSignal(), &action, nullptr) == 0);
}

std::vector<uintptr_t> StackOf(pid_t thread, absl::Duration timeout) {
  static std::mutex turn;
  const std::lock_guard lock(turn);
  if (!answers.load() || asked.load() != 0) return {};
  frame_count.store(0);
  asked.store(thread);
  if (syscall(SYS_tgkill, getpid(), thread, StackSignal()) != 0) {
    asked.store(0);
    return {};
  }
  pid_t unanswered = thread;
  const absl::Time end = SteadyNow() + timeout;
  if (!IsAnsweredUntil(end) && asked.compare_exchange_strong(unanswered, 0)) return {};
  // A handler that has begun to write is about to end; one that does not keeps the memory for itself.
  if (!IsAnsweredUntil(end + timeout)) return {};
  std::vector<uintptr_t> stack;
  for (int i = 0; i < frame_count.load(); ++i)
    stack.push_back(reinterpret_cast<uintptr_t>(frames[static_cast<size_t>(i)]));
  asked.store(0);
  return stack;
}

std::string FrameText(uintptr_t address, bool is_return_address, const std::string& location) {
  const uintptr_t inside = is_return_address ? address - 1 : address;
  Dl_info info = {};
  const bool is_loaded = dladdr(reinterpret_cast<void*>(inside), &info) != 0 && info.dli_fname != nullptr;
  // Kernels are loaded from a file in memory.
  if (is_loaded && std::string_view(info.dli_fname).starts_with("/proc/self/fd/")) {
    const auto base = reinterpret_cast<uintptr_t>(info.dli_sname != nullptr ? info.dli_saddr : info.dli_fbase);
    return absl::StrCat(info.dli_sname != nullptr ? info.dli_sname : "a kernel of the artifact",
                        absl::StrFormat(" (+0x%x)", address - base), location.empty() ? "" : " at ", location);
  }
  char name[256];
  if (absl::Symbolize(reinterpret_cast<void*>(inside), name, sizeof(name))) return name;
  if (!is_loaded) return absl::StrFormat("0x%x", address);
  if (info.dli_sname != nullptr) return info.dli_sname;
  const std::string_view file = FileName(info.dli_fname);
  return absl::StrFormat("%s (+0x%x)", std::string(file), address - reinterpret_cast<uintptr_t>(info.dli_fbase));
}

}  // namespace sgd::process
