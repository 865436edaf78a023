// How long messages between stages are on their way, before they are formed.
#ifndef SGD_PASSES_TIME_STAGES_MESSAGE_TIMES_H
#define SGD_PASSES_TIME_STAGES_MESSAGE_TIMES_H

#include <optional>

#include "passes/cost/cost_model.h"
#include "passes/spmd/collectives/rank_differences.h"
#include "passes/time/stages/program_flow.h"

namespace mlir::sgd {

class MessageTimes {
 public:
  /// `flow` is of the program of one coordinate of the sequential axis, which is the first of its mesh, and `cost` of
  /// that mesh.
  MessageTimes(const ProgramFlow& flow, unsigned numStages, const CostModel& cost);

  /// Seconds of one part's `value` from stage `from` to stage `to`, cut as sgd-shard-messages cuts it; 0 where all
  /// ranks share memory, and copy it themselves.
  double get(Value value, unsigned from, unsigned to) const;

 private:
  CostModel cost;  // of the mesh with the stages in front
  bool hasLinks = false;
  std::optional<RankDifferences> differences;
};

}  // namespace mlir::sgd

#endif
