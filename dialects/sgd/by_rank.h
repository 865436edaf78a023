// Loops and branches that ranks, or coordinates of leading dimensions, decide about each for itself.
#ifndef SGD_DIALECTS_SGD_BY_RANK_H
#define SGD_DIALECTS_SGD_BY_RANK_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// UnitAttr on a loop or branch. A loop: its condition is the `or` of what coordinates decide, and its body leaves what
/// belongs to one that is done as it is, so that a rank may stop when its own are. At the SPMD level: ranks decide
/// alone, and nothing in there is a collective.
inline constexpr llvm::StringLiteral kByRankAttr = "sgd.by_rank";

inline bool isByRank(Operation* op) { return op->hasAttr(kByRankAttr); }
inline void setByRank(Operation* op, bool isByRank) {
  if (isByRank)
    op->setAttr(kByRankAttr, UnitAttr::get(op->getContext()));
  else
    op->removeAttr(kByRankAttr);
}

/// An index of shape [d0, ...], which all results have as their leading dimensions, chooses for each coordinate: the
/// results there are those of the branch that the coordinate names, computed with all inputs as they are.
inline bool choosesByCoordinate(CaseOp branches) {
  return cast<RankedTensorType>(branches.getIndex().getType()).getRank() > 0;
}

}  // namespace mlir::sgd

#endif
