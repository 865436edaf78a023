// A program whose loops over layers, and the stacked arguments and results that belong to them, are cut.
#ifndef SGD_PASSES_TIME_LAYERS_SPLIT_FUNCTION_H
#define SGD_PASSES_TIME_LAYERS_SPLIT_FUNCTION_H

#include "passes/time/layers/layer_families.h"

namespace mlir::sgd {

/// By number of an argument or result.
using CutNumbers = DenseMap<unsigned, RowRanges>;

/// Splits the loops of `families` that have ranges. Arguments of `arguments` and results of `results` are cut so in any
/// case; others where they are state (`isState`) that is computed with what is cut. Cut ones become several, each with
/// `sgd.rows`, `sgd.whole` and `sgd.stage`, in the place of the whole. Returns which arguments were cut.
CutNumbers splitFunction(func::FuncOp function, ArrayRef<LayerFamily> families, const CutNumbers& arguments,
                         const CutNumbers& results, llvm::function_ref<bool(BlockArgument)> isState);

}  // namespace mlir::sgd

#endif
