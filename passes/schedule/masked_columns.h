// Columns of a row block that a mask sends to minus infinity before the exponential: they count for nothing.
#ifndef SGD_PASSES_SCHEDULE_MASKED_COLUMNS_H
#define SGD_PASSES_SCHEDULE_MASKED_COLUMNS_H

#include "passes/schedule/tile_group.h"

namespace mlir::sgd {

/// Scores from here down stand for minus infinity: their exponential, relative to that of any score that is no mask, is
/// 0 in every float type. A model that computes with scores as large, or whose first column in a row is not finite,
/// gets other results than with all columns.
inline constexpr double kMaskedScore = -1e8;

/// Whether the group's results for the rows of `block` are the same when columns from block.columns on are left out.
bool canLeaveOutColumns(const TileGroup& group, const RowBlock& block);

}  // namespace mlir::sgd

#endif
