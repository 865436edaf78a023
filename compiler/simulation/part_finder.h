// Which part of the batch an interval of a timeline is for.
#ifndef SGD_COMPILER_SIMULATION_PART_FINDER_H
#define SGD_COMPILER_SIMULATION_PART_FINDER_H

#include <array>
#include <cstdint>
#include <vector>

#include "passes/clock/step_clock.h"
#include "runtime/artifact/program_generated.h"

namespace mlir::sgd {

/// Tells executions of a program's instructions apart, which are asked for in order.
class PartFinder {
 public:
  explicit PartFinder(const ::sgd::artifact::Program& program);

  /// Of the next execution of instruction `index` in `lane`: a message that ranks copy themselves has two intervals. -1
  /// where it is of no part alone.
  int64_t next(uint32_t index, Interval::Lane lane);

 private:
  const ::sgd::artifact::Program& program;
  std::vector<std::array<uint64_t, 3>> seen;  // executions so far, by lane
  std::vector<uint64_t> runs;                 // executions in an iteration of the outermost loop
};

}  // namespace mlir::sgd

#endif
