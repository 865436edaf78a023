// In which order the stages of a pipeline run their tasks, and what that costs. Plain C++, no IR.
//
// A part of the batch goes through slots: a stage's share of the forward pass, of the backward pass, or of the
// gradients of weights. A task is one slot for one part. With 2 stages and the slots F0, T1, B0 (the last stage turns
// around) 1F1B orders the tasks of 3 parts
//
//   stage 0   F0.0  F0.1  B0.0  F0.2  B0.1  B0.2
//   stage 1   T1.0  T1.1  T1.2
//
// Sources: GPipe (Huang et al. 2019), 1F1B and interleaving (Narayanan et al. 2021), zero bubble (Qi et al. 2023).
#ifndef SGD_PASSES_TIME_STAGES_PIPELINE_SCHEDULE_H
#define SGD_PASSES_TIME_STAGES_PIPELINE_SCHEDULE_H

#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mlir::sgd {

enum class ScheduleKind {
  GPipe,  ///< all forward tasks, then all backward tasks
  OneForwardOneBackward,
  Interleaved,   ///< 1F1B with several chunks of layers on a stage, in turn
  ZeroBubbleH1,  ///< gradients of weights fill the waits, with the memory of 1F1B
  ZeroBubbleH2,  ///< no waits, with up to twice the memory of 1F1B
  ZeroBubbleV    ///< two chunks on a stage, on the way forward and on the way back; a part more than 1F1B has
};

/// A pipeline's shape: how many stages there are and which chunks of the model they have. Virtual stages count chunks
/// in the order of the forward pass.
struct PipelineForm {
  ScheduleKind kind = ScheduleKind::OneForwardOneBackward;
  unsigned numStages = 1;
  unsigned numChunks = 1;  ///< on a stage
  /// Of 1F1B: micro-batches that the first stage has in flight beyond one for each stage, so messages are sent while
  /// stages compute; the stages behind it have a share of these. None: the fewest that hide the messages.
  std::optional<unsigned> numAhead;

  unsigned getNumVirtualStages() const { return numStages * numChunks; }
  /// The stage that has virtual stage `index`.
  unsigned getStage(unsigned index) const;
  /// Whether gradients of weights have slots of their own.
  bool splitsWeights() const;
};

/// Reads `gpipe`, `1f1b`, `1f1b:N` with N parts more in flight, `interleaved:V` with V >= 2 chunks, `zb_h1`, `zb_h2` or
/// `zb_v`. The error says what is there and what is expected.
llvm::Expected<PipelineForm> parseSchedule(llvm::StringRef text, unsigned numStages);

/// The schedules to choose from, as parseSchedule reads them: `zero_bubble` is any of that kind, nothing any with one
/// chunk on a stage, and all other texts are their own.
std::vector<llvm::StringRef> getScheduleChoices(llvm::StringRef text);

/// As `parseSchedule` reads it.
std::string getScheduleName(const PipelineForm& form);

enum class SlotKind { Forward, Turn, Backward, Weights };

struct Slot {
  unsigned stage = 0;
  SlotKind kind = SlotKind::Forward;
  double seconds = 0;           ///< of one part
  std::vector<unsigned> needs;  ///< slots of lower numbers whose tasks of the same part come first
  double transferSeconds = 0;   ///< of what a part sends to other stages, on links that work while stages compute
};

struct Task {
  unsigned slot = 0;
  unsigned part = 0;
  bool operator==(const Task&) const = default;
};

/// By stage, its tasks in order: of each slot of the stage every part once, in the order of parts.
using PipelineSchedule = std::vector<std::vector<Task>>;

/// The schedule `form` of `slots`, which are in the order in which a part goes through them, for `numParts` parts.
/// The order is that of stages that are balanced, whatever times slots take. These only say how many parts 1F1B has
/// in flight: see PipelineForm::numAhead. An error where `form` has no order for so many parts.
llvm::Expected<PipelineSchedule> createSchedule(const PipelineForm& form, llvm::ArrayRef<Slot> slots,
                                                unsigned numParts);

struct PipelineTimes {
  double seconds = 0;        ///< from one step to the next, of many
  std::vector<double> busy;  ///< by stage, of a step
  /// The share of a step that a stage waits on average.
  double getBubble() const;
};

/// The steps of a schedule one after another: a task starts when its stage is free and what it needs is there, which
/// comes from other stages over a link for each direction of two stages, one message after the other. Channels hold any
/// number of messages. Nothing where a task would wait forever.
std::optional<PipelineTimes> simulate(llvm::ArrayRef<Slot> slots, const PipelineSchedule& schedule);

/// The most parts whose task of `from` has run and whose task of `to`, a later slot of the same stage, has not ended:
/// how many places a stash between them needs.
unsigned getMostStashed(const PipelineSchedule& schedule, unsigned stage, unsigned from, unsigned to);

/// The most parts that have left slot `from` of one stage before slot `to` of another one takes them, in the simulated
/// order; at least 1.
unsigned getMostInFlight(llvm::ArrayRef<Slot> slots, const PipelineSchedule& schedule, unsigned from, unsigned to);

/// A task of a loop's body: iteration i runs it for part `first` + i * stride.
struct LoopTask {
  unsigned slot = 0;
  unsigned first = 0;
};

/// A loop over tasks.
struct TaskLoop {
  unsigned trips = 1;
  unsigned stride = 1;
  std::vector<LoopTask> body;
};

/// `tasks` as loops whose bodies have the fewest tasks in all.
std::vector<TaskLoop> formTaskLoops(llvm::ArrayRef<Task> tasks);

}  // namespace mlir::sgd

#endif
