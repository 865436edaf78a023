// NVTX is headers alone: its first call looks for a profiler that has asked to be called.
#include "targets/gpu/device/driver/ranges.h"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>

namespace sgd::cuda {

void BeginRange(const char* name) { nvtxRangePushA(name); }
void EndRange() { nvtxRangePop(); }

}  // namespace sgd::cuda

#else

namespace sgd::cuda {

void BeginRange(const char*) {}
void EndRange() {}

}  // namespace sgd::cuda

#endif
