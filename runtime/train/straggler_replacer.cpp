#include "runtime/train/straggler_replacer.h"

#include "runtime/launch/interruption.h"

namespace sgd::train {

bool StragglerReplacer::Judge(watch::Straggler& straggler) {
  if (!straggler.has_lasted) {
    decision_.Found();
    return true;
  }
  // The ranks stop already.
  if (asked_ || control_.stop_signal() != 0) return false;
  Replacement replacement = decision_.Decide(straggler);
  straggler.is_replaced = replacement.kind != Replacement::Kind::kNone;
  straggler.reason = replacement.reason;
  if (straggler.is_replaced) {
    asked_ = straggler.rank;
    control_.RequestStop(launch::kGiveWaySignal);
    return true;
  }
  const std::pair told(straggler.rank, replacement.reason);
  return std::exchange(told_, told) != told;
}

void StragglerReplacer::GiveWay() {
  if (asked_) board_.Ask(*asked_);
}

}  // namespace sgd::train
