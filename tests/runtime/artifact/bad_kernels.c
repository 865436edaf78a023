// One shared object per macro, each with one property that kernels must not have.
#if defined(UNDEFINED_SYMBOL)
void elsewhere(void);
void kernel(void) { elsewhere(); }
#elif defined(WRITABLE_DATA)
static volatile int state = 3;
void kernel(void) { ++state; }
#elif defined(CONSTRUCTOR)
void kernel(void) {}
__attribute__((constructor)) static void start(void) { __asm__ volatile(""); }
#elif defined(CALLS_THROUGH_RELOCATIONS)
__attribute__((noinline)) void helper(void) { __asm__ volatile(""); }
void kernel(void) {
  helper();
  __asm__ volatile("");
}
#elif defined(NEEDS_LIBRARY)
void kernel(void) {}
#elif defined(EXECUTABLE_STACK)
void kernel(void) {}
#elif defined(THREAD_LOCAL)
static __thread int state;
int kernel(void) { return ++state; }
#endif
