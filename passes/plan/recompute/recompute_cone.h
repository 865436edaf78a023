// Which units have to run again so that a buffer need not be kept until a later reader, and what that gains. Plain C++,
// no IR.
#ifndef SGD_PASSES_PLAN_RECOMPUTE_RECOMPUTE_CONE_H
#define SGD_PASSES_PLAN_RECOMPUTE_RECOMPUTE_CONE_H

#include "passes/plan/recompute/timeline.h"

namespace mlir::sgd::remat {

/// Operands that nobody would keep until then are kept longer, or computed again themselves.
enum class OperandPolicy {
  KeepAll,       // all are kept longer
  KeepSmall,     // those are that are at most a quarter of what is freed
  RecomputeAll,  // none is that can be computed again
};

/// Units that run again before `position`, operands first.
struct Cone {
  int position = 0;
  llvm::SmallVector<unsigned, 4> units;
  llvm::SmallVector<unsigned, 4> extended;  ///< versions that are kept longer
  double seconds = 0;                       ///< what running them again takes, without executions that go
};

/// Finds cones by a walk from the wanted buffer to operands that are still there. Outlived by the timeline, which may
/// change between walks.
class ConeFinder {
 public:
  explicit ConeFinder(const Timeline& timeline);

  /// The cone by which `version` can be made again before `position`, one of its uses; null when something in it must
  /// not run twice or reads what is overwritten by then. Valid until the next call.
  const Cone* find(unsigned version, int position, OperandPolicy policy);

  /// The last policy that finds what find() has just found, and as all between them do.
  OperandPolicy getLastAlike() const;

 private:
  bool visit(unsigned unit);
  bool visitOperand(const Units::Operand& operand);
  bool visitKept(unsigned buffer);
  bool isSeen(unsigned unit) const { return seen[unit] == walk; }
  void extend(unsigned version);

  const Timeline& timeline;
  const Units& units;
  std::vector<unsigned> seen;  // by unit: the last walk that came there
  unsigned walk = 0;
  size_t numSeen = 0;
  OperandPolicy policy = OperandPolicy::KeepAll;
  int64_t freedBytes = 0;
  bool hasSmall = false, hasLarge = false;  // of operands that are kept or computed again, as the policy says
  Cone cone;
};

/// Bytes more, or fewer, at positions `first` to `last`, both included.
struct Change {
  int first = 0, last = 0;
  int64_t bytes = 0;
};

/// How far memory is above a budget, and what a cone changes. Long timelines are sampled: the highest of neighbouring
/// positions stands for them.
class Excess {
 public:
  Excess(const Timeline& timeline, int64_t budget);

  /// After a change of the timeline.
  void update(const Timeline& timeline);

  /// Bytes above the budget times positions.
  int64_t getTotal() const { return total; }
  static int64_t count(const Timeline& timeline, int64_t budget);
  /// Whether some position between `first` and `last`, both excluded, is above the budget.
  bool isAnyBetween(int first, int last) const;
  /// The first and the last of positions [first, last) that are above the budget: `last`, and `first` - 1, where none
  /// is.
  int getFirstAbove(int first, int last) const;
  int getLastAbove(int first, int last) const;
  /// The estimated amount by which the changes lower the total.
  double getGain(llvm::ArrayRef<Change> changes) const;
  /// The same for a cone.
  double getGain(const Timeline& timeline, const Cone& cone) const;

 private:
  size_t getBin(int position) const { return static_cast<size_t>(position) * above.size() / size; }

  int64_t budget;
  size_t size = 0;                      // of the timeline
  std::vector<int64_t> above;           // by bin: bytes above the budget, negative below
  std::vector<int> weight;              // by bin: positions
  std::vector<int> numAbove;            // prefix sums over positions
  mutable std::vector<int64_t> change;  // by bin: zero but while a gain is computed
  int64_t total = 0;
};

}  // namespace mlir::sgd::remat

#endif
