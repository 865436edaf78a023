// Candidate axes per factor, truncated by conflicts, then given to tensors. The conflict rules are
// those of Shardy's documentation of basic and aggressive propagation.
#include "passes/sharding/propagation/factor_propagation.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace mlir::sgd {

using llvm::ArrayRef;

/// Joins another tensor's axes into the candidate; `canGrow` becomes false at the first
/// disagreement.
static void joinCandidate(AxisParts& candidate, ArrayRef<AxisPart> axes, bool& canGrow) {
  if (isPrefix(axes, candidate)) return;
  if (isPrefix(candidate, axes)) {
    if (canGrow) candidate.assign(axes.begin(), axes.end());
    return;
  }
  candidate = commonPrefix(candidate, axes);
  canGrow = false;
}

AxisParts compatibleMajorAxes(const OpFactors& op, unsigned index, Direction direction) {
  AxisParts candidate;
  if (direction == Direction::None) return candidate;
  bool canGrow = true;
  auto join = [&](ArrayRef<TensorFactors> tensors) {
    for (const TensorFactors& tensor : tensors)
      if (tensor.factors[index].isPresent) joinCandidate(candidate, tensor.factors[index].axes, canGrow);
  };
  ArrayRef<TensorFactors> operands = ArrayRef<TensorFactors>(op.tensors).take_front(op.numOperands);
  ArrayRef<TensorFactors> results = ArrayRef<TensorFactors>(op.tensors).drop_front(op.numOperands);
  join(direction == Direction::Backward ? results : operands);
  if (direction != Direction::Both) canGrow = false;
  join(direction == Direction::Backward ? operands : results);
  return candidate;
}

/// Cuts `axes` before anything that `tensor` uses in a factor other than `index`.
static void cutByOtherFactors(AxisParts& axes, const TensorFactors& tensor, unsigned index) {
  for (unsigned other = 0; other < tensor.factors.size() && !axes.empty(); ++other) {
    const FactorAxes& factor = tensor.factors[other];
    if (other != index && !factor.axes.empty()) axes = prefixWithoutOverlap(axes, factor.axes);
    if (!factor.overflow.empty()) axes = prefixWithoutOverlap(axes, factor.overflow);
  }
}

/// Cuts `axes` to what factor `index` (of size `size`) of `tensor`, which has it, may hold.
static void cutByFactor(AxisParts& axes, const TensorFactors& tensor, unsigned index, int64_t size) {
  const FactorAxes& factor = tensor.factors[index];
  if (!tensor.replicated.empty()) axes = prefixWithoutOverlap(axes, tensor.replicated);
  if (!tensor.unreduced.empty()) axes = prefixWithoutOverlap(axes, tensor.unreduced);
  // Axes that already are there stay. Others must divide, unless nothing follows in the dimension: then it is padded.
  if (!factor.isMinorMost && !isPrefix(axes, factor.axes)) {
    AxisParts fitting = prefixThatDivides(axes, size);
    axes = isPrefix(fitting, factor.axes) ? commonPrefix(axes, factor.axes) : fitting;
  }
  if ((!factor.isOpen || !factor.overflow.empty()) && isPrefix(factor.axes, axes)) axes = factor.axes;
}

static bool give(FactorAxes& factor, const AxisParts& axes) {
  if (axes == factor.axes || !factor.isOpen || !factor.overflow.empty() || !isPrefix(factor.axes, axes)) return false;
  factor.axes = axes;
  return true;
}

static bool propagateBasic(const OpFactors& op) {
  bool isChanged = false;
  for (unsigned index = 0; index < op.sizes.size(); ++index) {
    AxisParts axes = compatibleMajorAxes(op, index, op.directions[index]);
    for (const TensorFactors& tensor : op.tensors) {
      if (axes.empty()) break;
      cutByOtherFactors(axes, tensor, index);
      if (tensor.factors[index].isPresent) cutByFactor(axes, tensor, index, op.sizes[index]);
    }
    if (axes.empty()) continue;
    for (TensorFactors& tensor : op.tensors)
      if (tensor.factors[index].isPresent) isChanged |= give(tensor.factors[index], axes);
  }
  return isChanged;
}

// Aggressive
// ----------------------------------------------------------------------------------------------------------

namespace {
/// Where a factor's candidate axes come from: the largest tensor that already has them.
struct Source {
  int64_t elements = -1;
  unsigned tensor = 0;
};
}  // namespace

static int64_t numElements(const TensorFactors& tensor, ArrayRef<int64_t> sizes) {
  int64_t elements = 1;
  for (unsigned index = 0; index < sizes.size(); ++index)
    if (tensor.factors[index].isPresent) elements *= sizes[index];
  return elements;
}

static Source findSource(const OpFactors& op, unsigned index, const AxisParts& axes) {
  Source source;
  if (axes.empty()) return source;
  for (unsigned t = 0; t < op.tensors.size(); ++t) {
    const FactorAxes& factor = op.tensors[t].factors[index];
    if (!factor.isPresent || !isPrefix(axes, factor.axes)) continue;
    int64_t elements = numElements(op.tensors[t], op.sizes);
    if (elements > source.elements) source = {elements, t};
  }
  return source;
}

/// Factors in the order in which they may claim axes.
static llvm::SmallVector<unsigned> claimOrder(const OpFactors& op, ArrayRef<AxisParts> candidates) {
  llvm::SmallVector<Source> sources;
  for (unsigned index = 0; index < op.sizes.size(); ++index)
    sources.push_back(findSource(op, index, candidates[index]));
  llvm::SmallVector<unsigned> order(op.sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
    int64_t shardsA = op.isElementwise ? getGroupSize(candidates[a]) : 0;
    int64_t shardsB = op.isElementwise ? getGroupSize(candidates[b]) : 0;
    return std::make_tuple(-sources[a].elements, -shardsA, sources[a].tensor, a) <
           std::make_tuple(-sources[b].elements, -shardsB, sources[b].tensor, b);
  });
  return order;
}

/// An operand of an elementwise op takes no more than the results do: sharding it sideways would
/// only be undone.
static void cutByResults(AxisParts& axes, const OpFactors& op, unsigned index) {
  for (const TensorFactors& result : llvm::ArrayRef<TensorFactors>(op.tensors).drop_front(op.numOperands)) {
    const FactorAxes& factor = result.factors[index];
    if (factor.isPresent && isPrefix(factor.axes, axes)) axes = factor.axes;
  }
}

static bool propagateAggressive(const OpFactors& op) {
  llvm::SmallVector<AxisParts> candidates;
  bool hasAny = false;
  for (unsigned index = 0; index < op.sizes.size(); ++index) {
    candidates.push_back(compatibleMajorAxes(op, index, op.directions[index]));
    hasAny |= !candidates.back().empty();
  }
  if (!hasAny) return false;
  llvm::SmallVector<unsigned> order = claimOrder(op, candidates);
  bool isChanged = false;
  auto update = [&](unsigned t) {
    TensorFactors& tensor = op.tensors[t];
    for (unsigned index : order) {
      if (!tensor.factors[index].isPresent || candidates[index].empty()) continue;
      AxisParts axes = candidates[index];
      cutByFactor(axes, tensor, index, op.sizes[index]);
      cutByOtherFactors(axes, tensor, index);
      if (op.isElementwise && t < op.numOperands) cutByResults(axes, op, index);
      isChanged |= give(tensor.factors[index], axes);
    }
  };
  for (unsigned t = op.numOperands; t < op.tensors.size(); ++t) update(t);
  for (unsigned t = 0; t < op.numOperands; ++t) update(t);
  return isChanged;
}

bool propagateFactors(const OpFactors& op, ConflictMode mode) {
  return mode == ConflictMode::Basic ? propagateBasic(op) : propagateAggressive(op);
}

bool isSettled(const OpFactors& op) {
  for (unsigned index = 0; index < op.sizes.size(); ++index) {
    const AxisParts* axes = nullptr;
    for (const TensorFactors& tensor : op.tensors) {
      const FactorAxes& factor = tensor.factors[index];
      if (!factor.isPresent) continue;
      if (!factor.overflow.empty() || (axes && *axes != factor.axes)) return false;
      axes = &factor.axes;
    }
  }
  return true;
}

}  // namespace mlir::sgd
