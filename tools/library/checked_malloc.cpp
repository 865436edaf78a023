// malloc for the code of this library: MLIR allocates operations with it and uses the memory unchecked. The linker
// calls this instead (--wrap=malloc).
#include <cstddef>

#include "llvm/Support/ErrorHandling.h"

extern "C" {

void* __real_malloc(size_t bytes);

// Ends as a failing `new` does: by the installed handler, of sgdc a message and exit code 1.
void* __wrap_malloc(size_t bytes) {
  void* memory = __real_malloc(bytes);
  if (memory == nullptr && bytes != 0) llvm::report_bad_alloc_error("malloc failed");
  return memory;
}

}  // extern "C"
