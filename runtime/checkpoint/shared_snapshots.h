// The state that further ranks of a run go on from when some have died.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/checkpoint/shared_snapshot.h"
#include "runtime/data/safetensors.h"

namespace sgd::checkpoint {

// Two copies in memory, filled in turn: while one is filled the other is whole.
class SharedSnapshots {
 public:
  // As of SharedSnapshot. `point` is that of every copy, but for its step. The layout says what ranks will put there.
  static absl::StatusOr<std::unique_ptr<SharedSnapshots>> Create(const std::vector<data::TensorSpec>& specs,
                                                                 CopyLayout layout, TrainingPoint point);

  const std::vector<data::TensorSpec>& specs() const { return copies_[0]->specs(); }
  const CopyLayout& layout() const { return *layout_; }

  // Of rank `rank` of the layout: copies its part of `state`, that after `steps_done` steps, once the other copy is
  // whole. As of SharedSnapshot::Fill. Returns the copy, to which the rank may add parts of another host's state.
  absl::StatusOr<SharedSnapshot*> Take(uint64_t steps_done, uint32_t rank, const std::vector<LocalTensor>& state,
                                       const Patience& patience);

  // The rest is for the process that starts the ranks, while there are none.

  // Of all copies, but for their step.
  const TrainingPoint& point() const { return point_; }
  // Compares copies with their checksums, the newest first, and forgets those that have changed since they were filled;
  // with `is_one_enough` no further than to the first that is as it was. A line for each that is forgotten.
  std::vector<std::string> ForgetDamaged(bool is_one_enough);
  // Steps done by the whole copies, in ascending order; at most two.
  std::vector<uint64_t> steps() const;
  // Of these, steps of copies that hold the state of another host too.
  std::vector<uint64_t> StepsOfOtherHost() const;
  // The tensors of the whole copy after `step` steps, under their names; as long as this object lives. NotFound.
  absl::StatusOr<data::SafetensorsFile> Open(uint64_t step) const;
  // Leaves the older copy as the newest, or none.
  void ForgetNewest();
  // Prepares for further ranks, which keep the copy after `step` steps, if there is one, and fill the other one first.
  void StartOver(std::optional<uint64_t> step);

 private:
  SharedSnapshots(TrainingPoint point, std::shared_ptr<const CopyLayout> layout)
      : point_(std::move(point)), layout_(std::move(layout)) {}

  const TrainingPoint point_;
  const std::shared_ptr<const CopyLayout> layout_;
  std::array<std::unique_ptr<SharedSnapshot>, 2> copies_;
  size_t next_ = 0;  // the copy to fill
};

}  // namespace sgd::checkpoint
