// The sharding rule of linear algebra.
#ifndef SGD_PASSES_SHARDING_PROPAGATION_LINEAR_ALGEBRA_RULES_H
#define SGD_PASSES_SHARDING_PROPAGATION_LINEAR_ALGEBRA_RULES_H

#include "dialects/sgd/sharding_rule.h"

namespace mlir::sgd {

void registerLinearAlgebraRules(DialectRegistry& registry);

}  // namespace mlir::sgd

#endif
