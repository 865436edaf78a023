#include "runtime/process/transport_variables.h"

#include <stdlib.h>

namespace sgd::process {

// As UCX reads them when it is loaded: it would catch SIGSEGV and other signals that are the runtime's, print to
// standard output what the runtime says in its own words, and complain of variables that are for other versions.
void SetTransportVariables() {
  setenv("UCX_ERROR_SIGNALS", "", /*overwrite=*/0);
  setenv("UCX_LOG_LEVEL", "fatal", /*overwrite=*/0);
  setenv("UCX_WARN_UNUSED_ENV_VARS", "n", /*overwrite=*/0);
  // A message in two calls of the system instead of five; UCX takes options of its networks from here alone.
  setenv("UCX_TCP_RX_SEG_SIZE", "256k", /*overwrite=*/0);
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  // UCX would patch functions of memory that sanitizers have replaced, and jump into nothing.
  setenv("UCX_MEM_MMAP_HOOK_MODE", "none", /*overwrite=*/0);
#endif
}

}  // namespace sgd::process
