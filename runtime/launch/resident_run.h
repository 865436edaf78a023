// A run on resident ranks, whether they are threads or processes: how it begins, how long it waits, how it ends.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/comm/shared_memory/shared_memory_segment.h"

namespace sgd::launch {

// By rank; nullopt for ranks that have not returned.
using RunOutcomes = std::vector<std::optional<absl::Status>>;

// Marks all ranks as running. FailedPrecondition if the job of `segment` has ended.
absl::Status BeginRun(comm::SharedMemorySegment& segment);

// The deadline and the grace of one run. Belongs to one thread.
class RunLimits {
 public:
  // Borrows the segment. `deadline`: for the last rank to return once the first has; `grace`: for ranks to return once
  // their job has ended.
  RunLimits(comm::SharedMemorySegment& segment, absl::Duration deadline, absl::Duration grace)
      : segment_(segment), deadline_(deadline), grace_(grace) {}

  // Lets the deadline begin now instead, for calls that return soon on all ranks.
  void BeginDeadline();

  // Returns whether a rank is missing that may still return. Ends the job when the deadline is over; once the grace is
  // over too, missing ranks are lost.
  bool ShouldWait(const RunOutcomes& outcomes);

 private:
  comm::SharedMemorySegment& segment_;
  const absl::Duration deadline_;
  const absl::Duration grace_;
  bool begins_early_ = false;
  std::optional<absl::Time> late_;  // when the deadline is over
  std::optional<absl::Time> lost_;  // when the grace is over
};

// The outcome of a lost rank.
absl::Status LostError(uint32_t rank, absl::Duration grace);

// The job's cause, else the first outcome that is not OK.
absl::Status OutcomeOfRun(const comm::SharedMemorySegment& segment, const std::vector<absl::Status>& outcomes);

}  // namespace sgd::launch
