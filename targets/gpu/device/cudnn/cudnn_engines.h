// Which of cuDNN's engines computes a graph, with which settings: as a text that can be kept, and as a plan.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "targets/gpu/device/cudnn/cudnn.h"

namespace sgd::cuda {

// The requirements on an engine for its results to be those of the program.
struct EngineLimits {
  uint64_t workspace_bytes = 0;
  // Whether it may use tensor cores: not where f32 must be multiplied as f32.
  bool takes_tensor_cores = true;
};

struct EngineChoice {
  int64_t engine = 0;                              // its number among those for graphs like this
  std::vector<std::pair<int64_t, int64_t>> knobs;  // kind and value, in cuDNN's order

  // "engine 45, 2=10, 8=0"; Parse takes nothing else.
  std::string Text() const;
  static absl::StatusOr<EngineChoice> Parse(std::string_view text);
};

// The choices that cuDNN's heuristics give for a finished operation graph, best first, then those that always work.
// Only engines that give the same bits every time, without reduced precision, transforms (Winograd's, Fourier's) or
// tensor cores where these are out.
absl::StatusOr<std::vector<EngineChoice>> ProposeEngines(const Cudnn& cudnn, const CudnnDescriptor& graph,
                                                         const EngineLimits& limits);

// An execution plan, checked by cuDNN and against the limits. Unimplemented where the choice does not fit.
absl::StatusOr<CudnnDescriptor> PlanWith(const Cudnn& cudnn, const CudnnDescriptor& graph, const EngineChoice& choice,
                                         const EngineLimits& limits);

}  // namespace sgd::cuda
