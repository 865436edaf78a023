// Handlers have no arguments, so the tool's name is the process's.
#include "compiler/driver/end_by_errors.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

static const char* toolName = "";

/// Allocates nothing. Threads may run out of memory at once: one prints, the others wait for the end.
[[noreturn]] static void endWithoutMemory() {
  static std::atomic_flag isEnding = ATOMIC_FLAG_INIT;
  while (isEnding.test_and_set()) pause();
  for (const char* text : {toolName, ": error: no memory for this compilation; give it more (ulimit -v, cgroups)\n"})
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
  std::_Exit(1);
}

void mlir::sgd::endByErrors(const char* tool) {
  toolName = tool;
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  std::set_new_handler(endWithoutMemory);
  llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { endWithoutMemory(); });
}

void mlir::sgd::endBy(int code) {
  llvm::outs().flush();
  // A reader that has what it wants, as `head`, may go.
  bool isReaderGone = llvm::outs().error() == std::errc::broken_pipe;
  if (llvm::outs().has_error() && !isReaderGone) {
    llvm::errs() << toolName << ": error: cannot write to standard output: " << llvm::outs().error().message() << "\n";
    code = 1;
  }
  std::_Exit(code);
}
