// The real scalar outputs of a program that has run.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/artifact/evaluation_state.h"
#include "runtime/exec/executor.h"
#include "runtime/trace/scalar.h"

namespace sgd::train {

inline trace::Scalar ReadOutput(const exec::Executor& executor, size_t output) {
  return trace::ReadScalar(executor.outputs()[output].shard.type().element, executor.OutputBytes(output));
}

// (names[i], value) of each scalar output i that this rank holds; complex ones, of which no line can say the value, are
// in files alone, and so is what an eval program counts.
inline std::vector<std::pair<std::string, trace::Scalar>> ReadScalars(const exec::Executor& executor,
                                                                      const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, trace::Scalar>> scalars;
  for (size_t i = 0; i < executor.outputs().size(); ++i) {
    const data::TensorType& type = executor.outputs()[i].shard.type();
    if (!executor.outputs()[i].is_held || !type.global_dims.empty() || type.element == data::ElementType::C64) continue;
    if (artifact::IsEvaluationState(executor.outputs()[i].name)) continue;
    scalars.emplace_back(names[i], ReadOutput(executor, i));
  }
  return scalars;
}

}  // namespace sgd::train
