// The sharding rule of host calls. A file of its own, as it is of their op.
#ifndef SGD_PASSES_SHARDING_PROPAGATION_HOST_CALL_RULES_H
#define SGD_PASSES_SHARDING_PROPAGATION_HOST_CALL_RULES_H

#include "dialects/sgd/sharding_rule.h"

namespace mlir::sgd {

void registerHostCallRules(DialectRegistry& registry);

}  // namespace mlir::sgd

#endif
