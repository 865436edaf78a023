// The job's cause is the error of the first rank that returns one.
#include "runtime/train/step_guard.h"

namespace sgd::train {

absl::Status EndAsRank(uint32_t rank, const absl::Status& error, comm::Control& control, absl::Duration deadline) {
  if (absl::Status status = control.Barrier(deadline); !status.ok()) return status;
  if (control.rank() == rank) return error;
  if (absl::Status status = control.Barrier(deadline); !status.ok()) return status;
  return error;
}

}  // namespace sgd::train
