// Checks that ops share which order tuples of elements by a comparator.
#ifndef SGD_DIALECTS_SGD_COMPARATOR_H
#define SGD_DIALECTS_SGD_COMPARATOR_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// At least one operand, and operands and results of one shape.
LogicalResult verifyOneShape(Operation* op);

/// Two scalars per operand in, one i1 out (`yielded`), scalar ops in between.
LogicalResult verifyComparator(Operation* op, Block& body, ValueRange yielded);

}  // namespace mlir::sgd

#endif
