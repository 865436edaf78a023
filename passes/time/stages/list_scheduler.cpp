// Simulates stages in steps from the end of one task to the next.
#include "passes/time/stages/list_scheduler.h"

#include <algorithm>

using namespace mlir::sgd;

static bool isForward(SlotKind kind) { return kind == SlotKind::Forward || kind == SlotKind::Turn; }

unsigned mlir::sgd::getUnits(const PipelineForm& form, SlotKind kind) {
  unsigned backward = form.splitsWeights() ? 1 : 2;
  return kind == SlotKind::Turn ? 1 + backward : kind == SlotKind::Backward ? backward : 1;
}

namespace {
/// Simulates balanced stages, which take what is best of what they could start. Times are units.
class ListScheduler {
 public:
  ListScheduler(const PipelineForm& form, llvm::ArrayRef<Slot> slots, unsigned numParts, WeightsDelay delay = {})
      : form(form), slots(slots), numParts(numParts), delay(delay), ends(slots.size()), free(form.numStages, 0) {
    for (std::vector<unsigned>& end : ends) end.assign(numParts, kNever);
    done.assign(slots.size(), 0);
    for (unsigned stage = 0; stage < form.numStages; ++stage) limits.push_back(getLimit(stage));
  }

  PipelineSchedule run();

 private:
  static constexpr unsigned kNever = std::numeric_limits<unsigned>::max();

  unsigned getLimit(unsigned stage) const;
  unsigned countDone(unsigned stage, llvm::function_ref<bool(SlotKind)> counts) const;
  unsigned countOpen(unsigned stage) const;
  unsigned countDelayed(unsigned stage) const;
  std::optional<unsigned> choose(unsigned stage, unsigned now) const;
  bool isReady(unsigned slot, unsigned now) const;

  const PipelineForm& form;
  llvm::ArrayRef<Slot> slots;
  unsigned numParts;
  WeightsDelay delay;
  std::vector<std::vector<unsigned>> ends;  // by slot and part
  std::vector<unsigned> done, free, limits;
};
}  // namespace

/// How many forward tasks of a stage may be open: run, and not yet let go by the stage's last slots.
unsigned ListScheduler::getLimit(unsigned stage) const {
  switch (form.kind) {
    case ScheduleKind::ZeroBubbleH1:
      return form.numStages;
    case ScheduleKind::ZeroBubbleH2:
      return 2 * form.numStages - 1;
    case ScheduleKind::ZeroBubbleV:
      return 2 * form.numStages + 2;
    default:
      return form.numStages - stage;
  }
}

unsigned ListScheduler::countDone(unsigned stage, llvm::function_ref<bool(SlotKind)> counts) const {
  unsigned count = 0;
  for (auto [slot, number] : llvm::zip(slots, done))
    if (slot.stage == stage && counts(slot.kind)) count += number;
  return count;
}

/// Forward tasks minus the tasks that let go what they have left: of weights where they are split off, else backward.
unsigned ListScheduler::countOpen(unsigned stage) const {
  unsigned closed = countDone(stage, [&](SlotKind kind) {
    return form.splitsWeights() ? kind == SlotKind::Weights : kind == SlotKind::Backward || kind == SlotKind::Turn;
  });
  unsigned opened = countDone(stage, isForward);
  return opened - std::min(opened, closed);
}

/// How many parts' gradients of weights wait for nothing.
unsigned ListScheduler::countDelayed(unsigned stage) const {
  unsigned behind = countDone(stage, [](SlotKind kind) { return kind == SlotKind::Weights; });
  unsigned before =
      countDone(stage, [](SlotKind kind) { return kind == SlotKind::Backward || kind == SlotKind::Turn; });
  return before - std::min(before, behind);
}

bool ListScheduler::isReady(unsigned slot, unsigned now) const {
  unsigned part = done[slot];
  return part < numParts && llvm::all_of(slots[slot].needs, [&](unsigned need) { return ends[need][part] <= now; });
}

/// The deepest slot of the best kind: backward first, so that memory is let go and other stages go on; then forward,
/// while the limit allows; what only weights need last, or before it is delayed too long.
std::optional<unsigned> ListScheduler::choose(unsigned stage, unsigned now) const {
  bool isDelayed = countDelayed(stage) > delay.parts + static_cast<uint64_t>(stage) * delay.slope;
  auto getRank = [&](unsigned slot) {
    switch (slots[slot].kind) {
      case SlotKind::Backward:
        return 0;
      case SlotKind::Turn:
        return 1;
      case SlotKind::Forward:
        return 3;
      case SlotKind::Weights:
        return isDelayed ? 2 : 4;
    }
    llvm_unreachable("all kinds are above");
  };
  std::optional<unsigned> best;
  bool hasRoom = countOpen(stage) < limits[stage];
  for (unsigned slot = slots.size(); slot-- > 0;) {
    if (slots[slot].stage != stage || !isReady(slot, now)) continue;
    if (isForward(slots[slot].kind) && !hasRoom) continue;
    if (!best || getRank(slot) < getRank(*best)) best = slot;
  }
  return best;
}

PipelineSchedule ListScheduler::run() {
  PipelineSchedule schedule(form.numStages);
  size_t left = slots.size() * numParts;
  for (unsigned now = 0; left > 0;) {
    bool started = false;
    for (unsigned stage = 0; stage < form.numStages; ++stage) {
      if (free[stage] > now) continue;
      std::optional<unsigned> slot = choose(stage, now);
      if (!slot) continue;
      unsigned part = done[*slot]++;
      free[stage] = ends[*slot][part] = now + getUnits(form, slots[*slot].kind);
      schedule[stage].push_back({*slot, part});
      started = true;
      --left;
    }
    unsigned next = kNever;
    for (unsigned time : free)
      if (time > now) next = std::min(next, time);
    if (next != kNever) {
      now = next;
    } else if (!started) {
      // Every stage waits for another one's limit: slots that are no pass forward and back.
      for (unsigned& limit : limits) ++limit;
    }
  }
  return schedule;
}

PipelineSchedule mlir::sgd::scheduleByList(const PipelineForm& form, llvm::ArrayRef<Slot> slots, unsigned numParts,
                                           WeightsDelay delay) {
  return ListScheduler(form, slots, numParts, delay).run();
}
