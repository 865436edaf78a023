// A program as recomputation and offload see it: steps in order, the buffers that they read and write, and what they
// cost. Plain C++, no IR.
#ifndef SGD_PASSES_PLAN_RECOMPUTE_STEP_SEQUENCE_H
#define SGD_PASSES_PLAN_RECOMPUTE_STEP_SEQUENCE_H

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/SmallVector.h"

namespace mlir::sgd::remat {

struct Buffer {
  int64_t bytes = 0;    ///< what it occupies while it is alive, alignment included
  bool isKept = false;  ///< an argument or a constant: always there, and counted by nobody here but for state
  /// The kept buffer that this one, a result of the program, is written to when nobody reads that any more by then.
  std::optional<unsigned> destination;
  /// Time of a copy to the host's memory, or back; 0 if the value must not go there.
  double hostSeconds = 0;
  /// Bytes of state that may be on the host between steps, while it is on the device.
  int64_t stateBytes = 0;
};

struct Step {
  double seconds = 0;
  llvm::SmallVector<unsigned, 4> reads, writes;  ///< buffers, each once; what is updated is in both
  /// (written, read): the result may take the memory of an operand that is dead after the step.
  llvm::SmallVector<std::pair<unsigned, unsigned>, 1> inPlace;
  int64_t scratchBytes = 0;   ///< more that is alive while it runs
  bool isRepeatable = false;  ///< does the same whenever it runs, and nothing but write its buffers
};

/// The last step stands for the end of the program: it reads the results.
struct StepSequence {
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
};

}  // namespace mlir::sgd::remat

#endif
