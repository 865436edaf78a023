// A discrete-event simulation of one step: of each stage one rank stands for all. Its streams do their events in order;
// what takes the same links goes one after another; messages are FIFOs with places.
#ifndef SGD_COMPILER_SIMULATION_SIMULATE_H
#define SGD_COMPILER_SIMULATION_SIMULATE_H

#include "compiler/simulation/timed_program.h"

namespace mlir::sgd {

/// What a rank of a stage does from `begin` to `end`, in seconds from the start of the step.
struct Interval {
  enum class Lane : uint8_t { Compute, Collective, Message };

  double begin = 0, end = 0;
  Lane lane = Lane::Compute;
  uint32_t index = 0;  ///< of the instruction
};

/// Seconds of a rank of one stage; the first three, of the stream that computes, add up to `end`.
struct StageTimes {
  double compute = 0;
  double exposed = 0;       ///< waits for other streams: for collectives
  double messageWaits = 0;  ///< waits for messages, or for places of theirs
  double end = 0;
  double communication = 0;         ///< of collectives and messages on links, hidden or not
  std::vector<uint64_t> sentBytes;  ///< by links of the topology
  std::vector<Interval> intervals;  ///< where asked for, in order of their ends in each lane
};

struct SimulatedStep {
  double seconds = 0;  ///< until the last stage ends, all beginning at once
  std::vector<StageTimes> stages;

  /// The part of all stages' time that passes without computing, and not for collectives.
  double getBubble() const;
};

/// `programs` are those of the stages in their order. Fails where they wait for each other, which no verified
/// artifact's do, and beyond 2^28 events.
llvm::Expected<SimulatedStep> simulateStep(const Machine& machine, llvm::ArrayRef<TimedProgram> programs,
                                           bool keepsIntervals);

}  // namespace mlir::sgd

#endif
