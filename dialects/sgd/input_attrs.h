// Facts that the frontend knows about an argument, or an op, beyond its type; discardable attributes that go through to
// the artifact.
#ifndef SGD_DIALECTS_SGD_INPUT_ATTRS_H
#define SGD_DIALECTS_SGD_INPUT_ATTRS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::sgd {

/// I64Attr, 2 or 4: the integers of this argument have so many bits for the user, and are kept in 8.
inline constexpr llvm::StringLiteral kNarrowBitsAttr = "sgd.narrow_bits";

/// UnitAttr on an argument or a result: dimension 0 counts the summands of the user's tensor, which has the others.
/// Over mesh axes each rank holds one, as of an array that is unreduced over them.
inline constexpr llvm::StringLiteral kSummandsAttr = "sgd.summands";

/// ArrayAttr of StringAttr: further names of this argument in the model, as of weights that several layers share.
inline constexpr llvm::StringLiteral kAliasesAttr = "sgd.aliases";

/// StringAttr: how the program `init` draws this argument, "normal(0, 0.02)" (passes/graph/training/initializers.h).
inline constexpr llvm::StringLiteral kInitAttr = "sgd.init";

/// TypeAttr on a function: the integers that its framework has labels and positions in; without it i32.
inline constexpr llvm::StringLiteral kIndexTypeAttr = "sgd.index_type";

/// StringAttr on a function: layers that compute as in an evaluation, as a message names them.
inline constexpr llvm::StringLiteral kEvaluatesAttr = "sgd.evaluates";

/// UnitAttr on a function: results that nobody has sharded get shards of equal size, as arrays of JAX have.
inline constexpr llvm::StringLiteral kEvenResultsAttr = "sgd.even_results";

/// UnitAttr on an arith.select with the condition true, and on the function that it is in: the first value is that of a
/// training, the second that of an evaluation. `sgd-make-training` leaves none.
inline constexpr llvm::StringLiteral kByModeAttr = "sgd.by_mode";

/// UnitAttr on an sgd.reduce that sums for statistics of a batch norm, or F64Attr on an arith.mulf that multiplies a
/// variance of so many elements by n / (n - 1). `sgd-make-training` leaves none.
inline constexpr llvm::StringLiteral kBatchStatisticsAttr = "sgd.batch_statistics";

}  // namespace mlir::sgd

#endif
