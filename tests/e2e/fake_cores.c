// Preloaded: this host has as many cores as SGD_FAKE_CORES says, of which those that it does not have are others of its
// own.
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static cpu_set_t bound;  // of the main thread, and of processes that it forks
static int is_bound;

int sched_getaffinity(pid_t thread, size_t size, cpu_set_t* cores) {
  (void)thread;
  memset(cores, 0, size);
  for (int core = 0; core < atoi(getenv("SGD_FAKE_CORES")); ++core) CPU_SET_S(core, size, cores);
  if (is_bound) memcpy(cores, &bound, size < sizeof(bound) ? size : sizeof(bound));
  return 0;
}

int sched_setaffinity(pid_t thread, size_t size, const cpu_set_t* cores) {
  const int real = (int)sysconf(_SC_NPROCESSORS_ONLN);
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int core = 0; core < CPU_SETSIZE && core < (int)size * 8; ++core) {
    if (CPU_ISSET_S(core, size, cores)) CPU_SET(core % real, &set);
  }
  if (syscall(SYS_gettid) == getpid()) {
    CPU_ZERO(&bound);
    memcpy(&bound, cores, size < sizeof(bound) ? size : sizeof(bound));
    is_bound = 1;
  }
  syscall(SYS_sched_setaffinity, thread, sizeof(set), &set);
  return 0;
}
