// Preloaded: on SIGUSR2 a rank meets the fault that SGD_TEST_FAULT names; one that stays in its computation as soon as
// it executes a kernel of its artifact.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

static const char* fault;
static const char* fifo;  // without a writer
static sem_t begins;

static bool is_in_kernel(const ucontext_t* context) {
  Dl_info object;
  const void* place = (const void*)context->uc_mcontext.gregs[REG_RIP];
  return dladdr(place, &object) != 0 && strncmp(object.dli_fname, "/proc/self/fd/", 14) == 0;
}

static void compute_for_ever(void) {
  for (volatile uint64_t i = 0;; ++i) {
  }
}

static void read_for_ever(void) {
  char byte;
  const int end = open(fifo, O_RDONLY);
  if (read(end, &byte, 1) < 0) _exit(8);
}

static void meet(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)info;
  if (strcmp(fault, "exit") == 0) _exit(7);
  if (strcmp(fault, "memory") == 0) {
    sem_post(&begins);
  } else if (!is_in_kernel(context)) {
    const struct itimerval soon = {{0, 0}, {0, 100}};
    setitimer(ITIMER_REAL, &soon, NULL);
  } else if (strcmp(fault, "compute") == 0) {
    compute_for_ever();
  } else {
    read_for_ever();
  }
}

// A thread of a library, which no caller of ours can catch an exception of.
static void* allocate(void* unused) {
  (void)unused;
  while (sem_wait(&begins) != 0) {
  }
  void* (*operator_new)(size_t) = (void* (*)(size_t))dlsym(RTLD_DEFAULT, "_Znwm");
  return memset(operator_new(SIZE_MAX / 4), 0, 1);
}

static void start_thread_of_rank(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, allocate, NULL) != 0) abort();
}

__attribute__((constructor)) static void prepare(void) {
  fault = getenv("SGD_TEST_FAULT");
  fifo = getenv("SGD_TEST_FIFO");
  if (fault == NULL) return;
  struct sigaction action = {0};
  action.sa_sigaction = meet;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGUSR2, &action, NULL);
  sigaction(SIGALRM, &action, NULL);
  sem_init(&begins, 0, 0);
  if (strcmp(fault, "memory") == 0) pthread_atfork(NULL, NULL, start_thread_of_rank);
}
