// Attributes that sgd-decide-carry puts on functions, for placing results in memory and for the artifact.
#ifndef SGD_PASSES_GRAPH_CARRY_CARRY_ATTRS_H
#define SGD_PASSES_GRAPH_CARRY_CARRY_ATTRS_H

#include "llvm/ADT/BitVector.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd {

/// Names of discardable attributes.
inline constexpr llvm::StringLiteral kCarryAttr = "sgd.carry";  // I64Attr of a result: the argument of the next step
inline constexpr llvm::StringLiteral kCarryBasisAttr = "sgd.carry_basis";  // StringAttr beside it: how it was decided
inline constexpr llvm::StringLiteral kCarryDoubtAttr =
    "sgd.carry_doubt";  // StringAttr of an argument: why its next value is not known
inline constexpr llvm::StringLiteral kCarryCandidateAttr =
    "sgd.carry_candidate";  // I64Attr beside it: the likeliest result

/// UnitAttr of a function: its results say what is carried, so nothing is inferred.
inline constexpr llvm::StringLiteral kCarryIsKnownAttr = "sgd.carry_is_known";

/// The argument that result `result` is on the next step.
inline std::optional<unsigned> getCarriedArgument(func::FuncOp function, unsigned result) {
  auto carry = function.getResultAttrOfType<IntegerAttr>(result, kCarryAttr);
  return carry ? std::optional<unsigned>(carry.getInt()) : std::nullopt;
}

/// By argument: whether a result is its value in the next step.
inline llvm::BitVector getCarriedArguments(func::FuncOp function) {
  llvm::BitVector carried(function.getNumArguments());
  for (unsigned result = 0; result < function.getNumResults(); ++result)
    if (std::optional<unsigned> argument = getCarriedArgument(function, result)) carried.set(*argument);
  return carried;
}

/// Whether a step changes what the next one starts from.
inline bool carriesState(func::FuncOp function) {
  return llvm::any_of(llvm::seq(function.getNumResults()), [&](unsigned result) {
    auto basis = function.getResultAttrOfType<StringAttr>(result, kCarryBasisAttr);
    return getCarriedArgument(function, result) && !(basis && basis.getValue() == "unchanged");
  });
}

}  // namespace mlir::sgd

#endif
