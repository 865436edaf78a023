// Places buffers with known lifetimes into one block of memory so that no two that live at the same time overlap. Plain
// C++, no IR. The method is best fit over interval conflicts, largest buffer first (as in XLA's and TFLite's planners),
// tried with a few orders.
#ifndef SGD_PASSES_PLAN_MEMORY_ARENA_PLANNER_H
#define SGD_PASSES_PLAN_MEMORY_ARENA_PLANNER_H

#include <cstdint>
#include <optional>
#include <vector>

namespace mlir::sgd::memory {

/// Every offset is a multiple of this.
inline constexpr uint64_t kAlignment = 64;

/// Instructions [first, last] between which a buffer holds a value that is still needed.
struct Lifetime {
  int64_t first = 0;
  int64_t last = 0;
};

struct ArenaBuffer {
  uint64_t size = 0;                ///< bytes; zero-sized buffers get an offset too
  std::vector<Lifetime> lifetimes;  ///< a buffer may be free in between
  std::optional<uint64_t>
      fixedOffset;  ///< required offset; fixed buffers may overlap each other in space only when the caller says so
};

struct ArenaPlan {
  std::vector<uint64_t> offsets;  ///< one per buffer
  uint64_t size = 0;              ///< bytes of the whole block, a multiple of the alignment
};

/// Never larger than all buffers side by side (each rounded up to the alignment) after the fixed ones. Deterministic.
ArenaPlan planArena(const std::vector<ArenaBuffer>& buffers);

/// Places buffers of one block in idle parts of another, `host` (all fixed, in `hostSize` bytes), so that the
/// rest of their own block gets smaller: for each guest an offset in the host's block, or nullopt for those that stay.
/// Again and again the largest guest at the peak of the rest moves, until none of that instant fits. Fixed
/// guests stay. Deterministic.
std::vector<std::optional<uint64_t>> moveIntoGaps(const std::vector<ArenaBuffer>& guests,
                                                  const std::vector<ArenaBuffer>& host, uint64_t hostSize);

/// The largest sum, over instructions, of the rounded sizes of the buffers alive there: no plan is smaller.
uint64_t lowerBound(const std::vector<ArenaBuffer>& buffers);

}  // namespace mlir::sgd::memory

#endif
