// Which source lines a kernel computes, for those who look for the line that makes a value.
#ifndef SGD_PASSES_PLAN_LOWERING_MEMBER_LINES_H
#define SGD_PASSES_PLAN_LOWERING_MEMBER_LINES_H

#include "dialects/fusion/fusion_dialect.h"

namespace mlir::sgd {

/// The cluster's location, with what getMemberLines finds in it.
Location getLocationWithMembers(fusion::ClusterOp cluster);

/// "divf at model.py:9:8", for each member of a cluster that may make a value that is not finite from finite ones, at
/// most 6: first functions that are not finite everywhere, then sums and products, which may overflow.
SmallVector<StringRef> getMemberLines(Location location);

}  // namespace mlir::sgd

#endif
