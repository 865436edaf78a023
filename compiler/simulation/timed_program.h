// The program of a stage as events with times on a machine: what the clock executes.
#ifndef SGD_COMPILER_SIMULATION_TIMED_PROGRAM_H
#define SGD_COMPILER_SIMULATION_TIMED_PROGRAM_H

#include <vector>

#include "compiler/options.h"
#include "passes/clock/step_clock.h"
#include "passes/cost/cost_model.h"
#include "runtime/artifact/collective.h"
#include "runtime/artifact/reader.h"

namespace mlir::sgd {

/// Of one stage, or of all ranks where there are none.
struct TimedProgram {
  const ::sgd::artifact::Program* program = nullptr;
  StageProgram stage;               ///< what the clock executes; empty once it has
  double flops = 0, halfFlops = 0;  ///< of a rank and step; the latter of f16 and bf16 matmuls
};

/// A mesh on a machine. Axes may be of another size than the artifact's: a rank then computes what it computes, and
/// what it exchanges over them is of the same whole tensors.
class Machine {
 public:
  /// Fails where `sizes` names an axis that the artifact, which outlives the machine, has not, or one whose size is in
  /// its programs. Errors call it `name`.
  static llvm::Expected<Machine> create(const ::sgd::artifact::Artifact& root, llvm::StringRef name, Topology topology,
                                        llvm::ArrayRef<MeshAxisSize> sizes);

  const CostModel& getCost() const { return cost; }
  const ::sgd::artifact::Artifact& getRoot() const { return *root; }
  llvm::ArrayRef<int64_t> getMesh() const { return cost.getMesh(); }
  int64_t getRanks() const;
  int64_t getStages() const;
  /// Of stage `from` to stage `to`: the outermost links that any of their ranks need.
  unsigned getLinkBetween(int64_t from, int64_t to) const;
  /// The axes of a group, in their sizes here.
  AxisParts getParts(const ::sgd::artifact::AxisRefs* axes) const;

 private:
  Machine(const ::sgd::artifact::Artifact& root, CostModel cost) : root(&root), cost(std::move(cost)) {}

  const ::sgd::artifact::Artifact* root;
  CostModel cost;
};

/// The streams are those of the target (runtime/device/stream_plan.h). Loops that only compute are one computation,
/// unless `keepsLoops`. Of branches the one that takes longest is taken, and loops whose trips are not known run once.
llvm::Expected<TimedProgram> timeProgram(const Machine& machine, const ::sgd::artifact::Program& program,
                                         bool keepsLoops = false);

/// By instruction: the seconds of one execution; 0 of what only runs others.
std::vector<double> timeInstructions(const Machine& machine, const ::sgd::artifact::Program& program);

/// A step of one program of the artifact.
struct TimedStep {
  std::vector<TimedProgram> programs;  ///< by stage
  StepTimes times;
  bool hasIntervals = false;  ///< not wanted, or too many to keep
};

/// Of program `name`, on `machine`. Where intervals are kept, loops that only compute are drawn iteration by iteration,
/// unless these are too many.
llvm::Expected<TimedStep> timeStep(const Machine& machine, llvm::StringRef name, bool keepsIntervals = false);

}  // namespace mlir::sgd

#endif
