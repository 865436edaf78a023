// Orders of tasks. GPipe, 1F1B, its interleaved form and ZB-H1 are written down; the others, and those of slots that
// are no pass forward and back, come from a list scheduler that simulates balanced stages and bounds how many parts
// each may have in flight.
#include "passes/time/stages/pipeline_schedule.h"

#include <algorithm>
#include <limits>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"
#include "passes/time/stages/list_scheduler.h"

using namespace mlir::sgd;

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

/// Parts go through several chunks in groups of as many as there are stages. A stage runs as many forward tasks as keep
/// it busy until the first part comes back, then forward and backward tasks in turn. The last chunk's two directions
/// are one task, in the place of the backward one. With one chunk, the first stage runs `numAhead` forward tasks more,
/// and the stages behind it a share of these.
static PipelineSchedule createOneForwardOneBackward(const PipelineForm& form, llvm::ArrayRef<Slot> slots,
                                                    unsigned numParts, unsigned numAhead = 0) {
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
    unsigned behind = stages - stage - 1;
    unsigned ahead = chunks == 1 ? behind + llvm::divideCeil(numAhead * behind, std::max(stages - 1, 1u))
                                 : behind * 2 + (chunks - 1) * stages;
    unsigned warmup = hasBackward ? std::min(all, ahead) : all;
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

/// 1F1B whose stages have the fewest micro-batches in flight that hide messages. From the first stage to the last
/// one and back there are two messages for each stage, and each takes no longer than a task: or links decide the time.
static PipelineSchedule createHidingMessages(const PipelineForm& form, llvm::ArrayRef<Slot> slots, unsigned numParts) {
  constexpr double kSlack = 1.05;  // in time, for fewer parts
  auto create = [&](unsigned ahead) { return createOneForwardOneBackward(form, slots, numParts, ahead); };
  if (form.numAhead) return create(*form.numAhead);
  if (llvm::all_of(slots, [](const Slot& slot) { return slot.transferSeconds == 0; })) return create(0);
  unsigned most = std::min(2 * (form.numStages - 1), numParts);
  auto getSeconds = [&](unsigned ahead) { return simulate(slots, create(ahead))->seconds; };
  double limit = kSlack * getSeconds(most);
  auto candidates = llvm::seq(0u, most);
  return create(*llvm::partition_point(candidates, [&](unsigned ahead) { return getSeconds(ahead) > limit; }));
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
/// give these sooner: all stages have as many parts in flight as the first one has in 1F1B. None where slots are no
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

/// The best of some delays of the gradients of weights.
static PipelineSchedule createZeroBubbleV(const PipelineForm& form, llvm::ArrayRef<Slot> slots, unsigned numParts) {
  std::vector<Slot> balanced = slots.vec();
  for (Slot& slot : balanced) slot.seconds = getUnits(form, slot.kind);
  unsigned stages = form.numStages;
  PipelineSchedule best;
  double least = std::numeric_limits<double>::max();
  for (unsigned parts : {1u, 2u, 3u, std::max(stages / 2, 1u) - 1, stages / 2, std::max(stages, 2u) - 2, stages - 1})
    for (unsigned slope : {0u, 1u}) {
      PipelineSchedule schedule = scheduleByList(form, slots, numParts, {parts, slope});
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
  bool alternates = form.kind == ScheduleKind::OneForwardOneBackward || form.kind == ScheduleKind::Interleaved;
  if (alternates && isPlainPass(form, slots)) {
    if (form.numChunks == 1) return createHidingMessages(form, slots, numParts);
    if (numParts % form.numStages == 0) return createOneForwardOneBackward(form, slots, numParts);
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "schedule '" + getScheduleName(form) +
                                       "' takes parts in groups of one per stage; found " + std::to_string(numParts) +
                                       " parts and " + std::to_string(form.numStages) +
                                       " stages; expected a multiple of the stages; use another --micro, or 1f1b");
  }
  if (form.kind == ScheduleKind::ZeroBubbleH1)
    if (std::optional<PipelineSchedule> schedule = createZeroBubbleH1(form, slots, numParts)) return *schedule;
  if (form.kind == ScheduleKind::ZeroBubbleV) return createZeroBubbleV(form, slots, numParts);
  return scheduleByList(form, slots, numParts);
}
