// How the elements of one op's result come from those of its operands.
#ifndef SGD_PASSES_GRAPH_CARRY_OP_LINKS_H
#define SGD_PASSES_GRAPH_CARRY_OP_LINKS_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// The closest way from a value back to an argument through ops that act on elements alone; later ones are closer.
enum class Link : uint8_t {
  None,         ///< there is none
  Elementwise,  ///< through functions, or as a factor of itself
  Scaled,       ///< c * argument + rest
  NearOne,      ///< the same, and c is 1 - x or a constant between a half and 1: decay
  Same,         ///< it is the argument
  Addend,       ///< argument + rest, or a choice between that and something else
};

/// From an op's one result to its operands.
struct OpLinks {
  /// Operand 0 times (or divided by) operand 1: the link to either depends on the other one, see getFactorLink.
  enum class Form : uint8_t { Each, Product, Quotient } form = Form::Each;
  SmallVector<Link, 3> operands = {};  ///< of Form::Each: one per operand
};

/// Returns the links of an op with one result and without data-flow edges.
OpLinks getOpLinks(Operation* op);

/// From a product with `factor`, or a quotient by it, to the other operand.
Link getFactorLink(Value factor, bool isQuotient);

}  // namespace mlir::sgd

#endif
