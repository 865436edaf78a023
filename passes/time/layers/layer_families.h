// Which loops of a program go over the same layers: forward and backward share stacked parameters and what the one
// leaves for the other. The IR is only read.
#ifndef SGD_PASSES_TIME_LAYERS_LAYER_FAMILIES_H
#define SGD_PASSES_TIME_LAYERS_LAYER_FAMILIES_H

#include "passes/graph/loops/layer_loop.h"
#include "passes/time/layers/row_pieces.h"
#include "passes/timing/op_times.h"

namespace mlir::sgd {

struct LayerFamily {
  SmallVector<LayerLoop> loops;      ///< in the order of the program, at least one
  SmallVector<BlockArgument> state;  ///< stacked arguments that they read, in their order
  RowRanges ranges;                  ///< empty: stays whole

  int64_t getNumLayers() const { return loops.front().trips; }
};

/// In the order of their first loops. `isState` says which arguments hold layers: those of a batch do not.
std::vector<LayerFamily> findFamilies(func::FuncOp function, llvm::function_ref<bool(BlockArgument)> isState);

/// Gives each family ranges of its layers, so that `numStages` virtual stages take as long. Returns the stage of what
/// is in front of all families, between two, and behind the last one.
SmallVector<unsigned> chooseRanges(func::FuncOp function, MutableArrayRef<LayerFamily> families, unsigned numStages,
                                   const OpTimes& times);

}  // namespace mlir::sgd

#endif
