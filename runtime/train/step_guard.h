// The interface through which the training loop has its steps watched.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/comm/control/control.h"
#include "runtime/trace/json_log.h"

namespace sgd::train {

// All ranks call it alike. An error ends the job.
class StepGuard {
 public:
  virtual ~StepGuard() = default;

  // Before a step whose inputs are filled.
  virtual absl::Status BeforeStep(uint64_t step) = 0;
  // After the end of a step, before its outputs are carried; of a device that carries them itself, at the latest one
  // step later. Waits for nobody.
  virtual void StepEnded(const trace::StepRecord& step) = 0;

  // Whether to check the state after this step.
  virtual bool IsDueAfter(uint64_t step) const = 0;
  // Between two steps, while none is in flight. Returns the next step: `steps_done`, or an earlier one after the guard
  // has gone back to the state before it, in order to leave out a step.
  virtual absl::StatusOr<uint64_t> Check(uint64_t steps_done) = 0;
  // Whether the state after this step, which may have been checked, is worth a copy to go on from.
  virtual bool AllowsCopyAfter(uint64_t step) const { return IsDueAfter(step); }
  // Whether the loop leaves out this step.
  virtual bool IsSkipped(uint64_t step) const = 0;
};

// Ends the job with `error` as that of `rank`: the others wait until it has returned it. All ranks call it and return
// the result.
absl::Status EndAsRank(uint32_t rank, const absl::Status& error, comm::Control& control, absl::Duration deadline);

}  // namespace sgd::train
