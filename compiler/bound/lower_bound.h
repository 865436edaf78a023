// Lower bound of a program's communication, for any compiler: docs/communication.md derives it.
#ifndef SGD_COMPILER_LOWER_BOUND_H
#define SGD_COMPILER_LOWER_BOUND_H

#include <string>
#include <vector>

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd {

/// One tensor of the cheapest division of the work: what of it must be sent.
struct LowerBoundTerm {
  std::string what;      ///< "partial sums of sgd.dot_general", "copies of argument w"
  std::string type;      ///< as a step of a collective names it: "tensor<64x16xf32>"
  std::string location;  ///< as getSourceLine gives it; of an argument often empty
  uint64_t bytes = 0;
};

struct LowerBound {
  uint64_t bytes = 0;                 ///< per rank and step
  std::vector<LowerBoundTerm> terms;  ///< the largest first; they add up to about `bytes`

  DictionaryAttr toAttr(MLIRContext* context) const;
  /// Returns the bound of an attribute that toAttr made; an empty bound for null.
  static LowerBound fromAttr(DictionaryAttr attribute);
};

/// DictionaryAttr of the module of a compilation: the bound of the program that is reported.
inline constexpr llvm::StringLiteral kLowerBoundAttr = "sgd.lower_bound";

/// The bound for `function`, whose types carry shardings: over all programs whose arguments and results have the same
/// shardings and in which each rank does as many multiplications of each matmul as it does in this one. Loops and
/// branches count as nothing.
LowerBound computeLowerBound(func::FuncOp function);

}  // namespace mlir::sgd

#endif
