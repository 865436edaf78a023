// How a program reads a parameter: whole, element by element, or in single rows.
#ifndef SGD_COMPILER_RECIPE_PARAMETER_READS_H
#define SGD_COMPILER_RECIPE_PARAMETER_READS_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// Whether `use` needs every element of its value on each rank: contractions, gathers, broadcasts and transposes do.
/// Ops on elements and reductions do not. A loop does when its body reads the value whole in every iteration, also
/// behind a conversion to another type, but not when it slices the value.
bool readsWhole(OpOperand& use);

/// Whether a loop reads the value of `use` whole in every iteration, also when it is transposed or joined to others
/// before.
bool isReadInLoop(OpOperand& use);

/// Whether a slice takes single rows of `value` along `dim`, in a loop or unrolled, as layers read stacked parameters.
bool isReadByRows(Value value, int64_t dim);

}  // namespace mlir::sgd

#endif
