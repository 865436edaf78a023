// What all collectives have in common, whatever their op.
#ifndef SGD_PASSES_COLLECTIVES_COLLECTIVE_OPS_H
#define SGD_PASSES_COLLECTIVES_COLLECTIVE_OPS_H

#include "dialects/spmd/spmd_dialect.h"

namespace mlir::sgd {

/// True for ops through which ranks exchange data.
bool isCollective(Operation* op);

/// The group of a collective; of a permute the order in which ranks receive.
AxisListAttr getGroup(Operation* collective);

}  // namespace mlir::sgd

#endif
