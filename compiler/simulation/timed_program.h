// The program of a stage as events with times on a machine: what a simulation executes.
#ifndef SGD_COMPILER_SIMULATION_TIMED_PROGRAM_H
#define SGD_COMPILER_SIMULATION_TIMED_PROGRAM_H

#include <vector>

#include "compiler/options.h"
#include "passes/cost/cost_model.h"
#include "runtime/artifact/collective.h"
#include "runtime/artifact/reader.h"

namespace mlir::sgd {

/// What a stream of a stage's ranks does next, or a loop around the `body` events that follow it. Streams do their own
/// events in order; one that waits goes on when what was last recorded of its event, in the order of all events, is
/// done.
struct TimedEvent {
  /// A host's ranks send and receive by copies, to and from the places of a channel; streams of a device send what the
  /// other side has posted.
  enum class Kind : uint8_t { Compute, Collective, Send, Receive, SendPosted, Post, Record, Wait, Loop };

  Kind kind = Kind::Compute;
  uint32_t stream = 0;  ///< of all but loops, which all streams go through
  uint32_t index = 0;   ///< of the instruction
  uint32_t number = 0;  ///< of a record or wait: the event; of a message: the channel
  unsigned link = 0;    ///< of collectives and messages: which links of the topology they take
  double seconds = 0;   ///< of computing; of collectives and messages on the links
  uint64_t sentBytes = 0;
  uint64_t trips = 0;  ///< of a loop
  size_t body = 0;     ///< of a loop: how many events
};

/// Of one stage, or of all ranks where there are none.
struct TimedProgram {
  const ::sgd::artifact::Program* program = nullptr;
  std::vector<TimedEvent> events;
  uint32_t numStreams = 1;
  uint32_t firstLink = 1;             ///< streams from here on are of messages
  std::vector<uint32_t> eventStream;  ///< by number: the stream that records it
  double flops = 0, halfFlops = 0;    ///< of a rank and step; the latter of f16 and bf16 matmuls
};

/// A mesh on a machine. Axes may be of another size than the artifact's: a rank then computes what it computes, and
/// what it exchanges over them is of the same whole tensors.
class Machine {
 public:
  /// Fails where `sizes` names an axis that the artifact has not, or one whose size is in its programs.
  static llvm::Expected<Machine> create(const ::sgd::artifact::ArtifactFile& file, Topology topology,
                                        llvm::ArrayRef<MeshAxisSize> sizes);

  const CostModel& getCost() const { return cost; }
  const ::sgd::artifact::ArtifactFile& getFile() const { return *file; }
  llvm::ArrayRef<int64_t> getMesh() const { return cost.getMesh(); }
  int64_t getRanks() const;
  int64_t getStages() const;
  /// Of stage `from` to stage `to`: the outermost links that any of their ranks need.
  unsigned getLinkBetween(int64_t from, int64_t to) const;
  /// The axes of a group, in their sizes here.
  AxisParts getParts(const ::sgd::artifact::AxisRefs* axes) const;

 private:
  Machine(const ::sgd::artifact::ArtifactFile& file, CostModel cost) : file(&file), cost(std::move(cost)) {}

  const ::sgd::artifact::ArtifactFile* file;
  CostModel cost;
};

/// The streams are those of the target (runtime/device/stream_plan.h). Loops that only compute are one computation. Of
/// branches the one that takes longest is taken, and loops whose trips are not known run once.
llvm::Expected<TimedProgram> timeProgram(const Machine& machine, const ::sgd::artifact::Program& program);

}  // namespace mlir::sgd

#endif
