// Names of enqueued work for NVIDIA's profilers (NVTX). Where no profiler listens, or this build has not
// NVTX's headers, they cost nothing.
#pragma once

namespace sgd::cuda {

void BeginRange(const char* name);
void EndRange();

}  // namespace sgd::cuda
