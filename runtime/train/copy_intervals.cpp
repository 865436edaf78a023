// Decides after the first copies, and then after ever more of them: an agreement takes time, too.
#include "runtime/train/copy_intervals.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/comm/control/gather_values.h"
#include "runtime/text/amounts.h"

namespace sgd::train {
namespace {

constexpr double kShare = 0.01;        // of the time, that steps wait for copies
constexpr double kSendingShare = 0.5;  // of the time between copies, that one is on its way
constexpr double kMost = 100'000;      // steps
constexpr uint64_t kClearly = 2;       // times as many steps

// Of a rank, in seconds.
struct Times {
  double stall = 0, sending = 0, step = 0;
};

}  // namespace

uint64_t StepsBetweenCopies(const CopyCost& cost, absl::Duration step) {
  const double seconds = std::max(absl::ToDoubleSeconds(step), 1e-9);
  const double by_stall = absl::ToDoubleSeconds(cost.stall) * (1 - kShare) / (kShare * seconds);
  const double by_sending = absl::ToDoubleSeconds(cost.sending) / (kSendingShare * seconds);
  return static_cast<uint64_t>(std::clamp(std::ceil(std::max(by_stall, by_sending)), 1.0, kMost));
}

absl::StatusOr<bool> CopyIntervals::Copied(uint64_t steps_done, const CopyCost& cost, comm::Agreements& ranks,
                                           absl::Duration deadline) {
  if (!options_.by_cost) return false;
  const absl::Duration step =
      (SteadyNow() - since_ - cost.stall) / static_cast<double>(std::max<uint64_t>(steps_done - last_, 1));
  last_ = steps_done;
  ++copies_;
  bool is_other = false;
  // The first copy touches its memory for the first time, and so does the second one; the third has sent one before.
  if (copies_ >= 3 && std::has_single_bit(copies_ + 1)) {
    const Times own = {absl::ToDoubleSeconds(cost.stall), absl::ToDoubleSeconds(cost.sending),
                       absl::ToDoubleSeconds(step)};
    const absl::StatusOr<std::vector<Times>> all = comm::GatherValues(ranks, own, deadline);
    if (!all.ok()) return all.status();
    Times most;
    for (const Times& times : *all)
      most = {std::max(most.stall, times.stall), std::max(most.sending, times.sending),
              std::max(most.step, times.step)};
    cost_ = {absl::Seconds(most.stall), absl::Seconds(most.sending)};
    step_ = absl::Seconds(most.step);
    every_ = std::max(options_.every, StepsBetweenCopies(cost_, step_));
    is_other = told_ == 0 || every_ >= kClearly * told_ || told_ >= kClearly * every_;
    if (is_other) told_ = every_;
  }
  since_ = SteadyNow();
  return is_other;
}

std::string CopyIntervals::Text(uint64_t sent_bytes) const {
  std::string note =
      absl::StrCat("--peer-copies auto: a copy takes ", text::SecondsText(absl::ToDoubleSeconds(cost_.stall)),
                   " of steps of ", text::SecondsText(absl::ToDoubleSeconds(step_)));
  if (sent_bytes > 1 && cost_.sending > absl::ZeroDuration()) {
    absl::StrAppend(
        &note, ", and ", text::SecondsText(absl::ToDoubleSeconds(cost_.sending)), " beside them to the next host (",
        text::BytesText(static_cast<uint64_t>(static_cast<double>(sent_bytes) / absl::ToDoubleSeconds(cost_.sending))),
        "/s of a rank)");
  }
  absl::StrAppend(&note, "; copies are made every ", every_, every_ == 1 ? " step" : " steps");
  return note;
}

}  // namespace sgd::train
