// Preloaded: the wall clock runs backwards, so that whatever is timed by it never ends or takes negative time.
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec* now) {
  if (clock != CLOCK_REALTIME) return (int)syscall(SYS_clock_gettime, clock, now);
  struct timespec steady;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &steady);
  now->tv_sec = 2000000000 - steady.tv_sec;
  now->tv_nsec = 999999999 - steady.tv_nsec;
  return 0;
}
