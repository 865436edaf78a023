// The scalar outputs of a program that has run.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/exec/executor.h"
#include "runtime/trace/scalar.h"

namespace sgd::train {

inline trace::Scalar ReadOutput(const exec::Executor& executor, size_t output) {
  return trace::ReadScalar(executor.outputs()[output].shard.type().element, executor.OutputBytes(output));
}

// (names[i], value) of each scalar output i.
inline std::vector<std::pair<std::string, trace::Scalar>> ReadScalars(const exec::Executor& executor,
                                                                      const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, trace::Scalar>> scalars;
  for (size_t i = 0; i < executor.outputs().size(); ++i) {
    if (executor.outputs()[i].shard.type().global_dims.empty()) scalars.emplace_back(names[i], ReadOutput(executor, i));
  }
  return scalars;
}

}  // namespace sgd::train
