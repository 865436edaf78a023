// Candidates: one or two tensors keep their shardings, the others add what fits, largest first. The
// cheapest candidate wins; the first of equals, so that the result does not depend on anything but
// the op.
#include "passes/sharding/propagation/assignment.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace mlir::sgd {

using llvm::ArrayRef;
using llvm::SmallVector;

/// Elements computed in the time in which one byte is received; a guess for the tie between moving
/// data and computing more.
static constexpr double kElementsPerByte = 16;

/// Share of dimension blocks that a rank holds under both shardings.
static double sharedPart(ArrayRef<AxisPart> from, ArrayRef<AxisPart> to) {
  AxisParts prefix = commonPrefix(from, to);
  double shared = getGroupSize(prefix);
  return shared / (static_cast<double>(getGroupSize(from)) * getGroupSize(to));
}

double reshardBytes(const TensorAxes& from, const TensorAxes& to, int64_t bytes) {
  double held = bytes, wanted = bytes, shared = bytes;
  // Shards over axes that `to` is partial over become summands where they are.
  AxisParts placed = difference(to.unreduced, from.unreduced);
  for (size_t dim = 0; dim < from.dims.size(); ++dim) {
    AxisParts own = difference(from.dims[dim].axes, placed);
    held /= getGroupSize(own);
    wanted /= getGroupSize(to.dims[dim].axes);
    shared *= sharedPart(own, to.dims[dim].axes);
  }
  AxisParts reduced = difference(from.unreduced, to.unreduced);
  if (reduced.empty()) return wanted - shared;
  // Reduce-scatter over the unreduced axes, then an all-gather of the part that the target does not keep
  // scattered.
  double shards = getGroupSize(reduced);
  double received = held * (shards - 1) / shards;
  AxisParts kept = reduced;
  for (const DimAxes& dim : to.dims) kept = difference(kept, dim.axes);
  double gathered = getGroupSize(kept);
  received += std::min(held, wanted) * (gathered - 1) / gathered;
  return received;
}

// Building candidates
// --------------------------------------------------------------------------------------------------

static bool hasFactor(const AssignedTensor& tensor, unsigned factor) {
  for (const auto& factors : tensor.mapping)
    if (llvm::is_contained(factors, factor)) return true;
  return false;
}

/// True when the factors' axes can be read back from the dimensions of `tensor`.
static bool isReadBack(const AssignmentProblem& problem, const AssignedTensor& tensor, const Assignment& assignment) {
  TensorFactors factors =
      project(assignedAxes(problem, tensor, assignment), tensor.mapping, problem.sizes, problem.tiling);
  for (unsigned factor = 0; factor < assignment.size(); ++factor)
    if (factors.factors[factor].isPresent && factors.factors[factor].axes != merged(assignment[factor])) return false;
  return true;
}

/// True when every tensor can hold its factors' axes in its dimensions.
static bool isRepresentable(const AssignmentProblem& problem, const Assignment& assignment) {
  bool isExact = true;
  for (const AssignedTensor& tensor : problem.tensors) {
    for (const auto& factors : tensor.mapping)
      if (factors.size() > 1) joinFactors(factors, problem.sizes, assignment, &isExact);
    isExact &= hasFactorTiles(tensor.mapping, problem.sizes, assignment, problem.tiling);
    // All-to-alls may cut tiles at other factors than those that the axes were assigned to.
    isExact &= problem.tiling == Tiling::Nested || isReadBack(problem, tensor, assignment);
  }
  return isExact;
}

/// Cuts `axes` before what other factors use in a tensor that has `factor`.
static void cutByAssignment(AxisParts& axes, const AssignmentProblem& problem, const Assignment& assignment,
                            unsigned factor) {
  for (const AssignedTensor& tensor : problem.tensors) {
    bool isUnreduced = tensor.isResult && problem.isReduction[factor];
    if (!isUnreduced && !hasFactor(tensor, factor)) continue;
    for (unsigned other = 0; other < assignment.size(); ++other) {
      if (other == factor || assignment[other].empty()) continue;
      if (hasFactor(tensor, other) || (tensor.isResult && problem.isReduction[other]))
        axes = prefixWithoutOverlap(axes, assignment[other]);
    }
  }
}

/// Lets `tensor` add its axes to `assignment` where they continue what is there and disturb
/// nothing.
static void addTensor(const AssignmentProblem& problem, const TensorFactors& tensor, Assignment& assignment) {
  for (unsigned factor = 0; factor < assignment.size(); ++factor) {
    const FactorAxes& wanted = tensor.factors[factor];
    if (!problem.canBeSharded[factor] || !isPrefix(assignment[factor], wanted.axes)) continue;
    AxisParts axes = wanted.axes;
    cutByAssignment(axes, problem, assignment, factor);
    if (axes == assignment[factor] || !isPrefix(assignment[factor], axes)) continue;
    AxisParts before = std::exchange(assignment[factor], axes);
    if (!isRepresentable(problem, assignment)) assignment[factor] = before;
  }
}

double getComputeCost(double elements) { return elements / kElementsPerByte; }

// Independent parts
// --------------------------------------------------------------------------------------------------

/// By factor: the smallest factor that it is tied to by tensors that have both, or by being reduced into one result.
static SmallVector<unsigned> tieFactors(const AssignmentProblem& problem) {
  SmallVector<unsigned> tied(problem.sizes.size());
  for (unsigned factor = 0; factor < tied.size(); ++factor) tied[factor] = factor;
  auto tie = [&](unsigned a, unsigned b) {
    unsigned from = std::max(tied[a], tied[b]), to = std::min(tied[a], tied[b]);
    if (from == to) return;
    for (unsigned& representative : tied)
      if (representative == from) representative = to;
  };
  bool reduces = llvm::is_contained(problem.isReduction, true);
  for (const AssignedTensor& tensor : problem.tensors) {
    std::optional<unsigned> first;
    for (const auto& factors : tensor.mapping)
      for (unsigned factor : factors) {
        if (first) tie(*first, factor);
        first = factor;
      }
  }
  // All results are partial over the same axes.
  if (reduces)
    for (unsigned factor = 1; factor < tied.size(); ++factor) tie(0, factor);
  return tied;
}

/// True when the op must fetch elements from other ranks, at most what a rank holds.
static bool exchangesTiles(const AssignmentProblem& problem, const Assignment& assignment) {
  return problem.tiling == Tiling::Exchanged && llvm::any_of(problem.tensors, [&](const AssignedTensor& tensor) {
           return !hasFactorTiles(tensor.mapping, problem.sizes, assignment);
         });
}

double getCost(const AssignmentProblem& problem, const Assignment& assignment) {
  double cost = 0;
  for (const AssignedTensor& tensor : problem.tensors) {
    if (tensor.isFree) continue;
    TensorAxes assigned = assignedAxes(problem, tensor, assignment);
    cost += tensor.isResult ? reshardBytes(assigned, *tensor.axes, tensor.bytes)
                            : reshardBytes(*tensor.axes, assigned, tensor.bytes);
  }
  if (exchangesTiles(problem, assignment)) {
    const AssignedTensor& operand = problem.tensors.front();
    double shards = 1;
    for (const DimAxes& dim : assignedAxes(problem, operand, assignment).dims) shards *= getGroupSize(dim.axes);
    cost += operand.bytes / shards;
  }
  SmallVector<unsigned> tied = tieFactors(problem);
  SmallVector<double> elements(tied.size(), 1);
  for (unsigned factor = 0; factor < tied.size(); ++factor)
    elements[tied[factor]] *= std::ceil(static_cast<double>(problem.sizes[factor]) / getGroupSize(assignment[factor]));
  for (unsigned factor = 0; factor < tied.size(); ++factor)
    if (tied[factor] == factor) cost += getComputeCost(elements[factor]);
  return cost;
}

TensorAxes assignedAxes(const AssignmentProblem& problem, const AssignedTensor& tensor, const Assignment& assignment) {
  TensorAxes axes;
  bool isExact = true;
  for (const auto& factors : tensor.mapping)
    axes.dims.push_back({joinFactors(factors, problem.sizes, assignment, &isExact), /*isOpen=*/false});
  if (tensor.isResult) axes.unreduced = unreducedAxes(problem, assignment);
  return axes;
}

AxisParts unreducedAxes(const AssignmentProblem& problem, const Assignment& assignment) {
  AxisParts axes;
  for (unsigned factor = 0; factor < assignment.size(); ++factor)
    if (problem.isReduction[factor]) axes.append(assignment[factor]);
  return axes;
}

/// True when an axis both shards a result and is one over which the result would be a sum.
static bool isReducedOverOwnAxes(const AssignmentProblem& problem, const Assignment& assignment) {
  AxisParts reduced = unreducedAxes(problem, assignment);
  for (const AssignedTensor& tensor : problem.tensors)
    for (unsigned factor = 0; tensor.isResult && factor < assignment.size(); ++factor)
      if (hasFactor(tensor, factor) && prefixWithoutOverlap(assignment[factor], reduced) != assignment[factor])
        return true;
  return false;
}

/// All tensors agree on every factor, and those that must be whole are.
static bool allAgree(const AssignmentProblem& problem, ArrayRef<TensorFactors> projected, Assignment& assignment) {
  for (unsigned factor = 0; factor < problem.sizes.size(); ++factor) {
    const AxisParts* axes = nullptr;
    for (const TensorFactors& tensor : projected) {
      const FactorAxes& held = tensor.factors[factor];
      if (!held.isPresent) continue;
      if (!held.overflow.empty() || (axes && *axes != held.axes)) return false;
      axes = &held.axes;
    }
    if (axes && !axes->empty() && !problem.canBeSharded[factor]) return false;
    if (axes) assignment[factor] = *axes;
  }
  return isRepresentable(problem, assignment) && !isReducedOverOwnAxes(problem, assignment);
}

static SmallVector<TensorFactors, 4> projectAll(const AssignmentProblem& problem) {
  SmallVector<TensorFactors, 4> projected;
  for (const AssignedTensor& tensor : problem.tensors)
    projected.push_back(project(*tensor.axes, tensor.mapping, problem.sizes, problem.tiling));
  return projected;
}

/// Indices of tensors, the largest first.
static SmallVector<unsigned> orderBySize(const AssignmentProblem& problem) {
  SmallVector<unsigned> order;
  for (unsigned tensor = 0; tensor < problem.tensors.size(); ++tensor) order.push_back(tensor);
  std::sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
    return std::make_tuple(-problem.tensors[a].bytes, a) < std::make_tuple(-problem.tensors[b].bytes, b);
  });
  return order;
}

Assignment followTensor(const AssignmentProblem& problem, unsigned leader, bool alone) {
  SmallVector<TensorFactors, 4> projected = projectAll(problem);
  Assignment assignment(problem.sizes.size());
  addTensor(problem, projected[leader], assignment);
  if (!alone)
    for (unsigned other : orderBySize(problem)) addTensor(problem, projected[other], assignment);
  return assignment;
}

/// `assignment` with `moved` behind the axes of factor `to` of a tensor, where all tensors can hold that.
static std::optional<Assignment> moveAxes(const AssignmentProblem& problem, const Assignment& assignment,
                                          const AssignedTensor& tensor, ArrayRef<AxisPart> moved, unsigned to) {
  if (!problem.canBeSharded[to] || problem.isReduction[to] || !hasFactor(tensor, to)) return std::nullopt;
  if (overlaps(assignment[to], moved)) return std::nullopt;
  Assignment candidate = assignment;
  for (const AxisPart& part : moved) appendMerged(candidate[to], part);
  AxisParts allowed = candidate[to];
  cutByAssignment(allowed, problem, assignment, to);
  if (allowed != candidate[to] || getGroupSize(allowed) > problem.sizes[to]) return std::nullopt;
  return isRepresentable(problem, candidate) ? std::optional(std::move(candidate)) : std::nullopt;
}

/// Candidates in which axes of a factor that must be whole shard another factor of the same tensor instead: the work
/// stays divided, and an all-to-all replaces a gather.
template <typename Consider>
static void considerMoved(const AssignmentProblem& problem, ArrayRef<TensorFactors> projected, unsigned index,
                          const Assignment& assignment, Consider consider) {
  for (unsigned from = 0; from < assignment.size(); ++from) {
    ArrayRef<AxisPart> moved = projected[index].factors[from].axes;
    if (problem.canBeSharded[from] || moved.empty()) continue;
    for (unsigned to = 0; to < assignment.size(); ++to)
      if (auto candidate = moveAxes(problem, assignment, problem.tensors[index], moved, to)) consider(*candidate);
  }
}

SmallVector<Assignment> followTensorMoved(const AssignmentProblem& problem, unsigned leader) {
  SmallVector<Assignment> candidates;
  considerMoved(problem, projectAll(problem), leader, followTensor(problem, leader, /*alone=*/false),
                [&](const Assignment& candidate) { candidates.push_back(candidate); });
  return candidates;
}

/// One whose factors are all tied to each other.
static Assignment chooseTied(const AssignmentProblem& problem) {
  SmallVector<TensorFactors, 4> projected = projectAll(problem);
  Assignment best(problem.sizes.size());
  if (allAgree(problem, projected, best)) return best;

  SmallVector<unsigned> bySize = orderBySize(problem);
  best = Assignment(problem.sizes.size());
  double bestCost = -1;
  auto consider = [&](const Assignment& candidate) {
    double cost = getCost(problem, candidate);
    if (bestCost >= 0 && cost >= bestCost) return;
    bestCost = cost;
    best = candidate;
  };
  for (unsigned first : bySize) {
    Assignment leader(problem.sizes.size());
    addTensor(problem, projected[first], leader);
    for (unsigned second : bySize) {
      Assignment candidate = leader;
      addTensor(problem, projected[second], candidate);
      for (unsigned other : bySize) addTensor(problem, projected[other], candidate);
      consider(candidate);
      for (unsigned moved : bySize) considerMoved(problem, projected, moved, candidate, consider);
    }
    consider(leader);
  }
  return best;
}

Assignment chooseAssignment(const AssignmentProblem& problem) {
  SmallVector<unsigned> tied = tieFactors(problem);
  if (llvm::all_of(tied, [](unsigned representative) { return representative == 0; })) return chooseTied(problem);
  // Independent factors are chosen separately: a barrier of a hundred values is a hundred choices.
  Assignment assignment(tied.size());
  for (unsigned part = 0; part < tied.size(); ++part) {
    if (tied[part] != part) continue;
    SmallVector<int64_t> sizes(problem.sizes);
    for (unsigned factor = 0; factor < tied.size(); ++factor)
      if (tied[factor] != part) sizes[factor] = 1;
    SmallVector<AssignedTensor> tensors;
    for (const AssignedTensor& tensor : problem.tensors)
      for (const auto& factors : tensor.mapping)
        if (!factors.empty() && tied[factors.front()] == part) {
          tensors.push_back(tensor);
          break;
        }
    AssignmentProblem independent{sizes, problem.canBeSharded, problem.isReduction, tensors, problem.tiling};
    Assignment chosen = chooseTied(independent);
    for (unsigned factor = 0; factor < tied.size(); ++factor)
      if (tied[factor] == part) assignment[factor] = chosen[factor];
  }
  return assignment;
}

}  // namespace mlir::sgd
