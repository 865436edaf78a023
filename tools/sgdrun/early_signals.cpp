// A handler that only writes and leaves.
#include "tools/sgdrun/early_signals.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

namespace sgd::sgdrun {
namespace {

std::atomic<int> code_of_exit = 1;
char text_of_sigint[128], text_of_sigterm[128], text_of_sigusr1[128];

void End(int signal) {
  const char* text = signal == SIGINT ? text_of_sigint : signal == SIGTERM ? text_of_sigterm : text_of_sigusr1;
  if (write(STDERR_FILENO, text, strlen(text)) < 0) _exit(1);
  _exit(code_of_exit.load());
}

void Prepare(int number, char* text, size_t size) {
  std::snprintf(text, size, "sgdrun: interrupted by signal %d (%s) before the first step\n", number, strsignal(number));
  signal(number, End);
}

}  // namespace

void EndOnSignals(int exit_code) {
  code_of_exit.store(exit_code);
  Prepare(SIGINT, text_of_sigint, sizeof(text_of_sigint));
  Prepare(SIGTERM, text_of_sigterm, sizeof(text_of_sigterm));
  Prepare(SIGUSR1, text_of_sigusr1, sizeof(text_of_sigusr1));
}

}  // namespace sgd::sgdrun
