// How a buffer can be on the host for a while, what that frees and how long the device waits for the copies. Plain C++,
// no IR.
#ifndef SGD_PASSES_PLAN_RECOMPUTE_OFFLOAD_CHOICE_H
#define SGD_PASSES_PLAN_RECOMPUTE_OFFLOAD_CHOICE_H

#include "passes/plan/recompute/recompute_cone.h"
#include "passes/plan/recompute/timeline.h"

namespace mlir::sgd::remat {

/// One way to offload. Positions are those of the timeline that it was made for.
struct OffloadChoice {
  enum class Kind {
    Gap,     ///< out behind one use, back before the next one
    Again,   ///< the same of what is on the host anyway: back alone
    Result,  ///< out behind the last use: the program's result is on the host
    State,   ///< between steps
    Sooner,  ///< what waits for the copy out at `begin` does so at `copied` already
    Later,   ///< the copy back at `begin` is before what is at `back` instead
  };
  Kind kind = Kind::Gap;
  unsigned version = 0;  ///< of State the kept buffer
  int begin = 0, copied = 0;
  int back = 0;                  ///< of State the position where it is brought in
  std::optional<unsigned> next;  ///< of State: the version that it becomes
  double seconds = 0;            ///< that the device waits, estimated
  llvm::SmallVector<Change, 4> changes;

  void apply(Timeline& timeline) const;
};

/// The ways to have `version` on the host until what reads it at `reader`. Copies are hidden, or the device waits for
/// them so that memory is free where it is short; both for either direction.
llvm::SmallVector<OffloadChoice, 4> findGapOffloads(const Timeline& timeline, const Excess& excess, unsigned version,
                                                    int reader);

/// The ways to have the kept buffer `state` on the host between steps.
llvm::SmallVector<OffloadChoice, 4> findStateOffloads(const Timeline& timeline, const Excess& excess, unsigned state);

/// Memory that a copy at `position` holds where memory is short is freed; nullopt where there is none.
std::optional<OffloadChoice> findTighter(const Timeline& timeline, const Excess& excess, int position);

/// Moves copies apart from what waits for them, as far as no more than `budget` bytes, or the timeline's peak if that
/// is more, are alive.
void hideCopies(Timeline& timeline, int64_t budget);

}  // namespace mlir::sgd::remat

#endif
