// Orders of tasks. GPipe, interleaved 1F1B and ZB-H1 are written down; the others, and those of slots that are no pass
// forward and back, come from a list scheduler that simulates balanced stages and bounds how many parts each may have
// under way.
#include "passes/stages/pipeline_schedule.h"

#include <algorithm>
#include <limits>

#include "llvm/ADT/STLExtras.h"

using namespace mlir::sgd;

static bool isForward(SlotKind kind) { return kind == SlotKind::Forward || kind == SlotKind::Turn; }

/// Slot by slot, all parts.
static PipelineSchedule createGPipe(const PipelineForm& form, llvm::ArrayRef<Slot> slots, unsigned numParts) {
  PipelineSchedule schedule(form.numStages);
  for (unsigned slot = 0; slot < slots.size(); ++slot)
    for (unsigned part = 0; part < numParts; ++part) schedule[slots[slot].stage].push_back({slot, part});
  return schedule;
}

/// Whether slots are one pass forward and at most one back over the virtual stages of `form`.
static bool isPlainPass(const PipelineForm& form, llvm::ArrayRef<Slot> slots) {
  unsigned last = form.getNumVirtualStages() - 1;
  if (slots.size() != last + 1 && slots.size() != 2 * last + 1) return false;
  for (auto [index, slot] : llvm::enumerate(slots)) {
    SlotKind kind = index < last ? SlotKind::Forward : index == last ? SlotKind::Turn : SlotKind::Backward;
    if (slot.kind != kind || slot.stage != form.getStage(index <= last ? index : 2 * last - index)) return false;
  }
  return true;
}

/// Parts go through the chunks in groups of as many as there are stages. A stage runs as many forward tasks as keep it
/// busy until the first part comes back, then forward and backward tasks in turn. The last chunk's two directions are
/// one task, in the place of the backward one.
static PipelineSchedule createInterleaved(const PipelineForm& form, llvm::ArrayRef<Slot> slots, unsigned numParts) {
  unsigned stages = form.numStages, chunks = form.numChunks, last = form.getNumVirtualStages() - 1;
  bool hasBackward = slots.size() > last + 1;
  auto getTask = [&](unsigned stage, unsigned number, bool isForward) {
    unsigned chunk = number % (stages * chunks) / stages;
    unsigned part = number / (stages * chunks) * stages + number % stages;
    unsigned index = (isForward ? chunk : chunks - 1 - chunk) * stages + stage;
    return Task{isForward ? index : 2 * last - index, part};
  };
  PipelineSchedule schedule(stages);
  for (unsigned stage = 0; stage < stages; ++stage) {
    unsigned all = numParts * chunks;
    unsigned warmup = hasBackward ? std::min(all, (stages - stage - 1) * 2 + (chunks - 1) * stages) : all;
    auto run = [&](unsigned number, bool isForward) {
      Task task = getTask(stage, number, isForward);
      bool isTurn = task.slot == last;
      if (!isTurn || !isForward || !hasBackward) schedule[stage].push_back(task);
    };
    for (unsigned number = 0; number < warmup; ++number) run(number, true);
    for (unsigned number = 0; hasBackward && number < all; ++number) {
      if (number + warmup < all) run(number + warmup, true);
      run(number, false);
    }
  }
  return schedule;
}

/// By stage, the slot of `kind`; none where a stage has several.
static std::optional<std::vector<std::optional<unsigned>>> findSlots(const PipelineForm& form,
                                                                     llvm::ArrayRef<Slot> slots, SlotKind kind) {
  std::vector<std::optional<unsigned>> found(form.numStages);
  for (auto [index, slot] : llvm::enumerate(slots)) {
    if (slot.kind != kind) continue;
    if (found[slot.stage]) return std::nullopt;
    found[slot.stage] = static_cast<unsigned>(index);
  }
  return found;
}

/// 1F1B in which stage s computes the gradients of weights s parts behind those of activations, so that the last stages
/// give these sooner: all stages have as many parts under way as the first one has in 1F1B. None where slots are no
/// pass forward and back.
static std::optional<PipelineSchedule> createZeroBubbleH1(const PipelineForm& form, llvm::ArrayRef<Slot> slots,
                                                          unsigned numParts) {
  auto forward = findSlots(form, slots, SlotKind::Forward), turn = findSlots(form, slots, SlotKind::Turn);
  auto backward = findSlots(form, slots, SlotKind::Backward), weights = findSlots(form, slots, SlotKind::Weights);
  if (!forward || !turn || !backward || !weights) return std::nullopt;
  unsigned last = form.numStages - 1;
  PipelineSchedule schedule(form.numStages);
  for (unsigned stage = 0; stage <= last; ++stage) {
    std::optional<unsigned> back = stage == last ? (*turn)[stage] : (*backward)[stage];
    if (!back || (*forward)[stage].has_value() != (stage != last)) return std::nullopt;
    auto run = [&](std::optional<unsigned> slot, unsigned part) {
      if (slot && part < numParts) schedule[stage].push_back({*slot, part});
    };
    unsigned ahead = form.numStages - stage;
    for (unsigned part = 0; part < ahead; ++part) run((*forward)[stage], part);
    for (unsigned part = 0; part < numParts; ++part) {
      run(back, part);
      if (part >= stage) run((*weights)[stage], part - stage);
      run((*forward)[stage], part + ahead);
    }
    for (unsigned part = numParts - std::min(numParts, stage); part < numParts; ++part) run((*weights)[stage], part);
  }
  return schedule;
}

/// Forward, and gradients of activations and of weights take a unit each.
static unsigned getUnits(const PipelineForm& form, SlotKind kind) {
  unsigned backward = form.splitsWeights() ? 1 : 2;
  return kind == SlotKind::Turn ? 1 + backward : kind == SlotKind::Backward ? backward : 1;
}

namespace {
/// After how many parts stage s computes gradients of weights rather than to go forward: `parts` + s * `slope`.
struct WeightsDelay {
  unsigned parts = std::numeric_limits<unsigned>::max();
  unsigned slope = 0;
};

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

/// The best of some delays of the gradients of weights.
static PipelineSchedule createZeroBubbleV(const PipelineForm& form, llvm::ArrayRef<Slot> slots, unsigned numParts) {
  std::vector<Slot> balanced = slots.vec();
  for (Slot& slot : balanced) slot.seconds = getUnits(form, slot.kind);
  unsigned stages = form.numStages;
  PipelineSchedule best;
  double least = std::numeric_limits<double>::max();
  for (unsigned parts : {1u, 2u, 3u, std::max(stages / 2, 1u) - 1, stages / 2, std::max(stages, 2u) - 2, stages - 1})
    for (unsigned slope : {0u, 1u}) {
      PipelineSchedule schedule = ListScheduler(form, slots, numParts, {parts, slope}).run();
      std::optional<PipelineTimes> times = simulate(balanced, schedule);
      if (!times || times->seconds >= least) continue;
      least = times->seconds;
      best = std::move(schedule);
    }
  return best;
}

llvm::Expected<PipelineSchedule> mlir::sgd::createSchedule(const PipelineForm& form, llvm::ArrayRef<Slot> slots,
                                                           unsigned numParts) {
  if (form.kind == ScheduleKind::GPipe) return createGPipe(form, slots, numParts);
  if (form.kind == ScheduleKind::Interleaved && isPlainPass(form, slots)) {
    if (numParts % form.numStages == 0) return createInterleaved(form, slots, numParts);
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "schedule '" + getScheduleName(form) +
                                       "' takes parts in groups of one per stage; found " + std::to_string(numParts) +
                                       " parts and " + std::to_string(form.numStages) +
                                       " stages; expected a multiple of the stages; use another --micro, or 1f1b");
  }
  if (form.kind == ScheduleKind::ZeroBubbleH1)
    if (std::optional<PipelineSchedule> schedule = createZeroBubbleH1(form, slots, numParts)) return *schedule;
  if (form.kind == ScheduleKind::ZeroBubbleV) return createZeroBubbleV(form, slots, numParts);
  return ListScheduler(form, slots, numParts).run();
}
