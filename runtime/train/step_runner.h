// The interface that loops over steps drive: one rank's side of a program that runs again and again. Session is the one
// that runs artifacts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "runtime/exec/executor.h"
#include "runtime/trace/scalar.h"

namespace sgd::train {

struct StepScalars {
  std::optional<trace::Scalar> loss;
  std::vector<std::pair<std::string, trace::Scalar>> outputs;  // the scalar ones, by the names they are written with
};

// A step is: FillInputs, Begin, End, then what is done with its outputs, then CarryOutputs, after which its outputs are
// lost. Where `runs_ahead`, FillInputs, Begin and CarryOutputs of a step may come before End of the one before it.
class StepRunner {
 public:
  virtual ~StepRunner() = default;

  // Fills what a step's data feed gives, waiting for it, and restores constant inputs that the step before may have
  // overwritten. Steps follow one another, unless state is restored.
  virtual absl::Status FillInputs(uint64_t step) = 0;

  // Ranks have done something else since the last step, which may take some of them long: the next one waits for them.
  virtual void AllowDelay() {}

  // Runs a step over the filled inputs, or gives it to the device, which Session's has_streams says: see
  // Executor::Begin. With `carries` it makes carried outputs the next step's inputs itself where the device can: of its
  // outputs only scalars can be read.
  virtual absl::Status Begin(uint64_t step, bool carries) = 0;
  virtual absl::Status End() = 0;
  virtual bool runs_ahead() const = 0;

  // Of the last step that has ended.
  virtual StepScalars ReadScalars() const = 0;
  virtual const exec::StepTiming& timing() const = 0;

  // Writes the outputs of the last step that has ended, which must not have carried them. All ranks call it.
  virtual absl::Status WriteOutputs() = 0;

  // Makes carried outputs the next step's inputs, unless the last step that has begun does.
  virtual absl::Status CarryOutputs() = 0;
};

}  // namespace sgd::train
