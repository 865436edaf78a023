// Dijkstra's search over the states of a sharding; edges come from reshard_moves.
#include "passes/sharding/reshard/reshard_planner.h"

#include <limits>
#include <queue>
#include <unordered_map>

#include "passes/sharding/reshard/reshard_moves.h"

using namespace mlir::sgd;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {
/// Above this many settled states the planner falls back to the obvious plan.
constexpr size_t kMaxSettled = 4000;

struct HashState {
  size_t operator()(const AtomState& state) const {
    size_t hash = 1469598103934665603u;
    for (Place place : state.places) hash = (hash ^ place.code) * 1099511628211u;
    for (uint8_t size : state.sizes) hash = (hash ^ size) * 1099511628211u;
    return hash;
  }
};

struct Node {
  double seconds = std::numeric_limits<double>::infinity();
  AtomState before;
  ReshardStep step;
  bool isSettled = false;
};

using Nodes = std::unordered_map<AtomState, Node, HashState>;

ReshardPlan tracePlan(Nodes& nodes, const AtomState& from, const AtomState& to) {
  SmallVector<const Node*, 8> path;
  for (AtomState at = to; !(at == from); at = path.back()->before) path.push_back(&nodes.at(at));
  ReshardPlan plan;
  for (const Node* node : llvm::reverse(path)) {
    plan.seconds += node->step.seconds;
    plan.sentBytes += node->step.sentBytes;
    plan.steps.push_back(node->step);
  }
  for (ReshardStep& step : plan.steps) {
    step.axes = merged(step.axes);
    step.fromAxes = merged(step.fromAxes);
    for (ReshardStep::Move& move : step.moves) move.axes = merged(move.axes);
  }
  return plan;
}

/// The part of a reduction's start that it bears itself: reductions over several axes are those of gradients, which
/// travel in buckets.
constexpr double kStartShare = 1.0 / 8;

/// Weights of the parts of a step's seconds.
class StepWeight {
 public:
  StepWeight(const CostModel& cost, const ShardState& from, const ShardState& to)
      : cost(cost), isBucketed(difference(from.partial, to.partial).size() > 1) {}

  double operator()(const ReshardStep& step) const {
    bool scatters = step.kind == ReshardStep::Kind::ReduceScatter;
    if (!isBucketed || (!scatters && step.kind != ReshardStep::Kind::AllReduce)) return step.seconds;
    CollectiveKind kind = scatters ? CollectiveKind::kReduceScatter : CollectiveKind::kAllReduce;
    return step.seconds - (1 - kStartShare) * cost.getCollectiveSeconds(kind, step.axes, 0);
  }

 private:
  const CostModel& cost;
  bool isBucketed;
};

/// The fastest way, or nothing when there is none (or none within the budget). Times are compared, equal ones in order
/// of discovery, so that the result depends on the question alone.
std::optional<ReshardPlan> search(const ReshardMoves& moves, const StepWeight& weigh) {
  const AtomState &from = moves.getStart(), &to = moves.getTarget();
  using Entry = std::tuple<double, size_t, AtomState>;
  auto isLater = [](const Entry& a, const Entry& b) {
    return std::tie(std::get<0>(a), std::get<1>(a)) > std::tie(std::get<0>(b), std::get<1>(b));
  };
  std::priority_queue<Entry, std::vector<Entry>, decltype(isLater)> queue(isLater);
  Nodes nodes;
  size_t discovered = 0, settled = 0;
  nodes[from].seconds = 0;
  queue.push({0, discovered++, from});
  while (!queue.empty() && settled < kMaxSettled) {
    auto [seconds, order, state] = queue.top();
    queue.pop();
    Node& node = nodes[state];
    if (node.isSettled) continue;
    node.isSettled = true;
    ++settled;
    if (state == to) return tracePlan(nodes, from, to);
    moves.forEach(state, [&, seconds = seconds, state = state](const AtomState& next, const ReshardStep& step) {
      Node& target = nodes[next];
      double reached = seconds + weigh(step);
      if (target.isSettled || reached >= target.seconds) return;
      target = {reached, state, step, false};
      queue.push({target.seconds, discovered++, next});
    });
  }
  return std::nullopt;
}

llvm::Error checkState(ArrayRef<int64_t> mesh, ArrayRef<int64_t> shape, const ShardState& state) {
  if (state.dims.size() != shape.size())
    return llvm::createStringError("sharding has %zu dimensions, the tensor %zu", state.dims.size(), shape.size());
  SmallVector<AxisPart> used;
  auto claim = [&](const AxisPart& part) {
    bool isValid = part.axis < mesh.size() && part.begin >= 1 && part.size >= 1 && mesh[part.axis] % (part.end()) == 0;
    for (const AxisPart& other : used)
      isValid &= other.axis != part.axis || part.begin % (other.end()) == 0 || other.begin % (part.end()) == 0;
    used.push_back(part);
    return isValid;
  };
  bool areValid = true;
  for (const AxisParts& parts : state.dims)
    for (const AxisPart& part : parts) areValid &= claim(part);
  for (const AxisPart& part : state.partial) areValid &= claim(part);
  return areValid ? llvm::Error::success()
                  : llvm::createStringError("parts of mesh axes do not divide their axis, or overlap");
}

/// Elements of one shard, padding included.
uint64_t getLocalElements(ArrayRef<int64_t> shape, const ShardState& state) {
  uint64_t elements = 1;
  for (auto [size, parts] : llvm::zip(shape, state.dims))
    elements *= getPaddedSize(size, getGroupSize(parts)) / getGroupSize(parts);
  return elements;
}

uint64_t getElements(ArrayRef<int64_t> shape) {
  uint64_t elements = 1;
  for (int64_t size : shape) elements *= size;
  return elements;
}

bool isSharded(ArrayRef<int64_t> shape, const ShardState& state) {
  return getLocalElements(shape, state) < getElements(shape);
}

void append(ReshardPlan& plan, const ReshardPlan& more) {
  plan.steps.append(more.steps);
  plan.sentBytes += more.sentBytes;
  plan.seconds += more.seconds;
}
}  // namespace

llvm::Expected<ReshardPlan> ReshardPlanner::plan(ArrayRef<int64_t> shape, uint64_t elementBytes, const ShardState& from,
                                                 const ShardState& to) const {
  if (llvm::Error error = checkState(cost.getMesh(), shape, from)) return std::move(error);
  if (llvm::Error error = checkState(cost.getMesh(), shape, to)) return std::move(error);
  bool mayMaterialise = !isSharded(shape, from) || !isSharded(shape, to);
  if (std::optional<ReshardPlan> plan = planOnAtoms(shape, elementBytes, from, to, mayMaterialise)) return *plan;
  if (std::optional<ReshardPlan> plan = planBetweenBases(shape, elementBytes, from, to, mayMaterialise)) return *plan;
  return planByGathering(shape, elementBytes, from, to);
}

std::optional<ReshardPlan> ReshardPlanner::planOnAtoms(ArrayRef<int64_t> shape, uint64_t elementBytes,
                                                       const ShardState& from, const ShardState& to,
                                                       bool mayMaterialise) const {
  StepWeight weigh(cost, from, to);
  // Prime atoms make more states; they are needed only where whole sub-axes do not fit.
  for (bool toPrimes : {false, true}) {
    std::optional<Atoms> atoms = Atoms::create(cost.getMesh(), from, to, toPrimes);
    if (!atoms) continue;
    if (std::optional<ReshardPlan> plan =
            search(ReshardMoves(cost, *atoms, shape, elementBytes, from, to, mayMaterialise), weigh))
      return plan;
  }
  return std::nullopt;
}

/// An axis that both sides cut in ways without a common refinement ((1)2 and (1)3 of 6) is whole in between: it moves
/// to one dimension, or none, and is cut anew there.
std::optional<ReshardPlan> ReshardPlanner::planBetweenBases(ArrayRef<int64_t> shape, uint64_t elementBytes,
                                                            const ShardState& from, const ShardState& to,
                                                            bool mayMaterialise) const {
  AxisParts whole;
  for (unsigned axis : Atoms::getAxesWithoutRefinement(cost.getMesh(), from, to))
    whole.push_back({axis, 1, cost.getMesh()[axis]});
  if (whole.empty()) return std::nullopt;
  ShardState rest = from;
  for (AxisParts& parts : rest.dims) parts = difference(parts, whole);
  rest.partial = difference(rest.partial, whole);
  std::optional<ReshardPlan> best;
  auto consider = [&](const ShardState& between) {
    if (!mayMaterialise && !isSharded(shape, between)) return;
    std::optional<ReshardPlan> first = planOnAtoms(shape, elementBytes, from, between, mayMaterialise),
                               second = planOnAtoms(shape, elementBytes, between, to, mayMaterialise);
    if (!first || !second || (best && best->seconds <= first->seconds + second->seconds)) return;
    append(*first, *second);
    best = std::move(first);
  };
  consider(rest);
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    ShardState between = rest;
    between.dims[dim].append(whole);
    consider(between);
  }
  return best;
}

/// How many parts of dimension `dim` stay in place; none where tiles would not nest.
static size_t countKept(int64_t size, ArrayRef<AxisPart> from, ArrayRef<AxisPart> to) {
  if (from == to) return from.size();
  if (size % getGroupSize(from) != 0 || size % getGroupSize(to) != 0) return 0;
  size_t kept = 0;
  while (kept < std::min(from.size(), to.size()) && from[kept] == to[kept]) ++kept;
  return kept;
}

ReshardPlan ReshardPlanner::planByGathering(ArrayRef<int64_t> shape, uint64_t elementBytes, const ShardState& from,
                                            const ShardState& to) const {
  using Kind = ReshardStep::Kind;
  ReshardPlan plan;
  SmallVector<int64_t, 4> local;  // sizes on a rank
  for (auto [size, parts] : llvm::zip(shape, from.dims))
    local.push_back(getPaddedSize(size, getGroupSize(parts)) / getGroupSize(parts));
  auto add = [&](ReshardStep step, uint64_t before) {
    step.axes = merged(step.axes);
    priceStep(cost, step, before, getElements(local) * elementBytes);
    plan.seconds += step.seconds;
    plan.sentBytes += step.sentBytes;
    plan.steps.push_back(std::move(step));
  };
  auto addOnDim = [&](Kind kind, size_t dim, ArrayRef<AxisPart> axes, int64_t size) {
    if (local[dim] == size && getGroupSize(axes) == 1) return;
    uint64_t before = getElements(local) * elementBytes;
    local[dim] = size;
    add({kind, static_cast<int64_t>(dim), 0, AxisParts(axes.begin(), axes.end()), {}, size}, before);
  };
  AxisParts reduced = difference(from.partial, to.partial), masked = difference(to.partial, from.partial);
  if (!reduced.empty()) add({Kind::AllReduce, 0, 0, reduced, {}}, getElements(local) * elementBytes);
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    ArrayRef<AxisPart> gathered =
        ArrayRef(from.dims[dim]).drop_front(countKept(shape[dim], from.dims[dim], to.dims[dim]));
    addOnDim(Kind::AllGather, dim, gathered, local[dim] * getGroupSize(gathered));
  }
  uint64_t held = 1;
  for (auto [size, whole] : llvm::zip(local, shape)) held *= std::min(size, whole);
  plan.materialises = held >= getElements(shape) && isSharded(shape, from) && isSharded(shape, to);
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    size_t kept = countKept(shape[dim], from.dims[dim], to.dims[dim]);
    ArrayRef<AxisPart> sliced = ArrayRef(to.dims[dim]).drop_front(kept);
    if (kept == 0) addOnDim(Kind::Resize, dim, {}, getPaddedSize(shape[dim], getGroupSize(to.dims[dim])));
    addOnDim(Kind::Slice, dim, sliced, local[dim] / getGroupSize(sliced));
  }
  if (!masked.empty()) add({Kind::Mask, 0, 0, masked, {}}, getElements(local) * elementBytes);
  return plan;
}

llvm::StringRef mlir::sgd::getStepName(ReshardStep::Kind kind) {
  switch (kind) {
    case ReshardStep::Kind::Slice:
      return "shard_slice";
    case ReshardStep::Kind::AllGather:
      return "all_gather";
    case ReshardStep::Kind::AllToAll:
      return "all_to_all";
    case ReshardStep::Kind::Permute:
      return "collective_permute";
    case ReshardStep::Kind::ReduceScatter:
      return "reduce_scatter";
    case ReshardStep::Kind::AllReduce:
      return "all_reduce";
    case ReshardStep::Kind::Mask:
      return "mask";
    case ReshardStep::Kind::Place:
      return "place";
    case ReshardStep::Kind::Resize:
      return "resize";
    case ReshardStep::Kind::GatherRange:
      return "gather_range";
  }
  llvm_unreachable("all kinds are handled");
}
