#include "runtime/train/straggler_replacer.h"

#include <vector>

#include "absl/status/statusor.h"
#include "runtime/comm/control/gather_values.h"
#include "runtime/launch/interruption.h"

namespace sgd::train {

bool StragglerReplacer::Judge(watch::Straggler& straggler) {
  if (!straggler.has_lasted) return true;
  // The ranks stop already.
  if (options_.every == 0 || asked_ || control_.stop_signal() != 0) return false;
  const std::optional<watch::RankState> state = watch_.StateOf(straggler.rank);
  const Replacement replacement =
      DecideOnReplacement(options_, straggler, state ? state->other_cores : watch::OtherCores::kUnknown);
  straggler.is_replaced = replacement.place.has_value();
  straggler.reason = replacement.reason;
  if (straggler.is_replaced) {
    asked_ = {.rank = straggler.rank, .place = *replacement.place};
    control_.RequestStop(launch::kGiveWaySignal);
    return true;
  }
  const std::pair told(straggler.rank, replacement.reason);
  return std::exchange(told_, told) != told;
}

absl::Status StragglerReplacer::GiveWay(absl::Duration timeout) {
  const absl::StatusOr<std::vector<uint64_t>> all =
      comm::GatherValues<uint64_t>(control_, ReplacementBoard::Encode(asked_), timeout);
  if (!all.ok()) return all.status();
  // Of another reason to give way, nothing.
  board_.Ask(ReplacementBoard::Decode(all->front()));
  return absl::OkStatus();
}

}  // namespace sgd::train
