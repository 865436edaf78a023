// A discrete-event simulation of one step: of each stage one rank stands for all. Its streams do their events in order;
// what takes the same link goes one after another; messages are FIFOs with places. No IR.
#ifndef SGD_PASSES_CLOCK_STEP_CLOCK_H
#define SGD_PASSES_CLOCK_STEP_CLOCK_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "passes/clock/step_events.h"

namespace mlir::sgd {

/// An activity of a rank of a stage, from `begin` to `end` in seconds from the start of the step.
struct Interval {
  enum class Lane : uint8_t { Compute, Collective, Message };

  double begin = 0, end = 0;
  Lane lane = Lane::Compute;
  uint32_t index = 0;   ///< of the event
  uint32_t stream = 0;  ///< that does it, or starts it on a link
};

/// Seconds of a rank of one stage; the first four, of the stream that computes, add up to `end`.
struct StageTimes {
  double compute = 0;
  double exposed = 0;       ///< waits for collectives
  double hostWaits = 0;     ///< waits for copies between the device and its host
  double messageWaits = 0;  ///< waits for messages, or for places of theirs
  double end = 0;
  double communication = 0;         ///< of collectives and messages on links, hidden or not
  std::vector<uint64_t> sentBytes;  ///< by link
  std::vector<Interval> intervals;  ///< where asked for, in order of their ends in each lane

  /// Without waits for other stages.
  double getBusy() const { return compute + exposed + hostWaits; }
};

struct StepTimes {
  double seconds = 0;  ///< until the last stage ends, all beginning at once
  std::vector<StageTimes> stages;

  /// The part of all stages' time that passes while stages wait for each other.
  double getBubble() const;
};

/// `stages` are those of a pipeline in their order, or all ranks as one. Each has `numLinks` links of its own, for what
/// its ranks send. Fails where stages wait for each other, which no verified artifact's do, and beyond 2^27 events.
llvm::Expected<StepTimes> runStep(llvm::ArrayRef<StageProgram> stages, llvm::ArrayRef<StepChannel> channels,
                                  unsigned numLinks, bool keepsIntervals = false);

}  // namespace mlir::sgd

#endif
