// Ops whose region is a function of scalars.
#ifndef SGD_DIALECTS_SGD_SCALAR_BODY_H
#define SGD_DIALECTS_SGD_SCALAR_BODY_H

#include "mlir/IR/OpDefinition.h"

namespace mlir::sgd {

/// The region is a function of scalars (a comparator): nothing in it is a tensor to be sharded, placed or scheduled.
template <typename ConcreteType>
class HasScalarBody : public OpTrait::TraitBase<ConcreteType, HasScalarBody> {};

bool hasScalarBody(Operation* op);

}  // namespace mlir::sgd

#endif
