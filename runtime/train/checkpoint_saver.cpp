// All ranks save; rank 0 removes.
#include "runtime/train/checkpoint_saver.h"

#include "absl/strings/str_cat.h"

namespace sgd::train {

absl::Status CheckpointSaver::Save(uint64_t steps_done) {
  checkpoint::TrainingPoint point = options_.point;
  point.step = steps_done;
  absl::Status status = checkpoint::Save(options_.directory, point, state_(), ranks_, options_.deadline);
  if (!status.ok()) return status;
  if (options_.keep == 0 || ranks_.rank() != 0) return absl::OkStatus();
  status = checkpoint::RemoveOlder(options_.directory, options_.keep);
  if (!status.ok() && observer_ != nullptr) observer_->Note(absl::StrCat("--keep: ", status.message()));
  return absl::OkStatus();
}

}  // namespace sgd::train
