// The intervals of a simulated step in few bytes.
#ifndef SGD_COMPILER_REPORT_TIMELINE_ROWS_H
#define SGD_COMPILER_REPORT_TIMELINE_ROWS_H

#include "nlohmann/json.hpp"
#include "passes/clock/step_clock.h"
#include "runtime/artifact/program_generated.h"

namespace mlir::sgd {

/// Seconds of a unit of time in records.
inline constexpr double kTick = 1e-10;

int64_t toTicks(double seconds);

/// A row for each stream and what it does: [{"stream", "lane": "compute", "collective" or "message", "gap": [ticks
/// since the end of the one before], "length": [ticks], "instruction": [index], "part": [of the batch, or -1], "count":
/// [intervals that are drawn as one]}], the last two only where they say something. Neighbours of one row are one where
/// both fit into `resolution` seconds.
nlohmann::json getTimelineRows(const StageTimes& times, const ::sgd::artifact::Program& program, double resolution);

}  // namespace mlir::sgd

#endif
