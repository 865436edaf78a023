// The mesh axes over which a collective of a manual computation goes.
#ifndef SGD_FRONTENDS_STABLEHLO_COLLECTIVE_AXES_H
#define SGD_FRONTENDS_STABLEHLO_COLLECTIVE_AXES_H

#include "frontends/stablehlo/op_lowering.h"

namespace mlir::sgd {

/// The axes, or parts of them, whose groups `replicaGroups` lists; no groups at all are one group of all ranks. Fails,
/// having reported it, outside of manual computations, and where the groups are not those of manual axes.
FailureOr<AxisListAttr> findCollectiveAxes(OpLowering& l, DenseIntElementsAttr replicaGroups);

}  // namespace mlir::sgd

#endif
