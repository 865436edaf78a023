// The batch of a step: which of its inputs have rows, in which dimension, and how many.
#ifndef SGD_COMPILER_RECIPE_BATCH_H
#define SGD_COMPILER_RECIPE_BATCH_H

#include "compiler/recipe/recipe.h"
#include "compiler/recipe/stepped_rows.h"
#include "compiler/recipe/tensor_rules.h"

namespace mlir::sgd {

/// I64Attr of an argument: the dimension that holds its rows, -1 where none does. Without it dimension 0 does.
inline constexpr llvm::StringLiteral kBatchDimAttr = "sgd.batch_dim";

/// Inputs of `function` with more than one row, except random keys.
SmallVector<RowsOfInput> findInputsWithRows(func::FuncOp function);

/// The number of rows of `input`.
int64_t getRows(func::FuncOp function, RowsOfInput input);

/// Whether a rule of the recipe says which dimension of `input` holds its rows.
bool hasRuledRows(func::FuncOp function, RowsOfInput input);

/// Marks stacked inputs, [blocks, rows, ..], all of which have as many blocks and rows: dimension 1 holds their rows.
/// Two of them are enough, or one whose blocks are no single rows of features.
void markStackedInputs(func::FuncOp function, MutableArrayRef<RowsOfInput> inputs, const SteppedRows& stepped);

/// Shards the rows of all inputs over the recipe's `batch` axes: dimension 0, the dimension that a rule names, or,
/// where a loop steps over blocks of rows, the rows of a block. Returns whether there is any input with rows. Leaves
/// out inputs whose sharding a rule gives, scalars, inputs of one row and random keys. Inputs without a rule for their
/// rows must have equally many.
///
/// With `takesState`, state is an input too unless names or donation make it state, with a remark: of `x + 1` nobody
/// knows whether `x` is data.
FailureOr<bool> shardBatch(func::FuncOp function, const Recipe& recipe, const RuledArguments& ruled,
                           bool takesState = false);

}  // namespace mlir::sgd

#endif
