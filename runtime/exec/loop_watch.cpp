// One look at the clock for a trip.
#include "runtime/exec/loop_watch.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/clock/steady_clock.h"

namespace sgd::exec {

void LoopWatch::BeginStep(uint64_t step) {
  step_ = step;
  begin_ = SteadyNow();
  loops_.clear();
}

absl::Status LoopWatch::BeginTrip(uint64_t trip, bool is_known) {
  loops_.back().trip = trip;
  const bool has_limit = limits_.step_limit != absl::InfiniteDuration();
  if (!has_limit && (is_known || !limits_.note)) return absl::OkStatus();
  const absl::Duration taken = SteadyNow() - begin_;
  if (taken > limits_.step_limit) {
    return absl::DeadlineExceededError(
        absl::StrCat("has taken ", absl::FormatDuration(taken), " where --step-limit allows ",
                     absl::FormatDuration(limits_.step_limit), ", and begins ", DescribeLoops(),
                     "; check the loop's condition, or give --step-limit more time"));
  }
  if (!is_known && limits_.note && taken > limits_.note_after) {
    std::exchange(limits_.note, nullptr)(
        absl::StrCat("step ", step_, " has taken ", absl::FormatDuration(limits_.note_after), ", and begins ",
                     DescribeLoops(), "; --step-limit ends steps that take longer than it says"));
  }
  return absl::OkStatus();
}

std::string LoopWatch::DescribeLoops() const {
  std::string text;
  for (size_t i = loops_.size(); i-- > 0;) {
    absl::StrAppend(&text, text.empty() ? "" : ", within ", "trip ", loops_[i].trip + 1, " of ",
                    program_.Describe(loops_[i].instruction));
  }
  return text;
}

}  // namespace sgd::exec
