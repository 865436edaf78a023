// How much the busiest rank sends when ranges are gathered, found without walking over ranks: time grows with the
// number of mesh axes and the square root of the ranks at most. Depends on nothing, so that the compiler's report and
// the runtime's counter count with the very same function.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/comm/collectives/tile_range.h"

namespace sgd::comm {

// The range of one operand; an element of the dimension has `element_bytes`.
struct RangeLoad {
  TileRange range;
  uint64_t element_bytes = 0;
};

// The largest of what AddSentBytes, given all `ranges` one after another, adds up for each rank of a mesh whose
// sub-axes include `tiles` and `results`.
uint64_t MostSentBytes(std::span<const SubAxis> tiles, std::span<const SubAxis> results,
                       std::span<const RangeLoad> ranges);

}  // namespace sgd::comm
