// Dijkstra's search over the states of a sharding; edges come from reshard_moves.
#include "passes/partition/reshard_planner.h"

#include <limits>
#include <queue>
#include <unordered_map>

#include "passes/partition/reshard_moves.h"

using namespace mlir::sgd;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {
/// Above this many settled states the obvious plan is taken.
constexpr size_t kMaxSettled = 4000;

struct HashState {
  size_t operator()(const AtomState& state) const {
    size_t hash = 1469598103934665603u;
    for (Place place : state.places) hash = (hash ^ place.code) * 1099511628211u;
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
  }
  return plan;
}

/// The fastest way, or nothing when there is none (or none within the budget). Times are compared, equal ones in order
/// of discovery, so that the result depends on the question alone.
std::optional<ReshardPlan> search(const ReshardMoves& moves, const AtomState& from, const AtomState& to) {
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
      if (target.isSettled || seconds + step.seconds >= target.seconds) return;
      target = {seconds + step.seconds, state, step, false};
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
  for (auto [dim, parts] : llvm::enumerate(state.dims)) {
    for (const AxisPart& part : parts) areValid &= claim(part);
    if (shape[dim] % getGroupSize(parts) != 0)
      return llvm::createStringError("dimension %zu of size %lld does not divide into %lld shards", dim,
                                     static_cast<long long>(shape[dim]), static_cast<long long>(getGroupSize(parts)));
  }
  for (const AxisPart& part : state.partial) areValid &= claim(part);
  return areValid ? llvm::Error::success()
                  : llvm::createStringError("parts of mesh axes do not divide their axis, or overlap");
}

bool isSharded(const ShardState& state) {
  return llvm::any_of(state.dims, [](const AxisParts& parts) { return getGroupSize(parts) > 1; });
}
}  // namespace

llvm::Expected<ReshardPlan> ReshardPlanner::plan(ArrayRef<int64_t> shape, uint64_t elementBytes, const ShardState& from,
                                                 const ShardState& to) const {
  if (llvm::Error error = checkState(cost.getMesh(), shape, from)) return std::move(error);
  if (llvm::Error error = checkState(cost.getMesh(), shape, to)) return std::move(error);
  bool mayMaterialise = !isSharded(from) || !isSharded(to);
  // Prime atoms make more states; they are needed only where whole digits do not fit.
  for (bool toPrimes : {false, true}) {
    std::optional<Atoms> atoms = Atoms::create(cost.getMesh(), from, to, toPrimes);
    if (!atoms) continue;
    AtomState target = atoms->encode(to);
    ReshardMoves moves(cost, *atoms, shape, elementBytes, target, mayMaterialise);
    if (std::optional<ReshardPlan> plan = search(moves, atoms->encode(from), target)) return *plan;
  }
  return planByGathering(shape, elementBytes, from, to);
}

ReshardPlan ReshardPlanner::planByGathering(ArrayRef<int64_t> shape, uint64_t elementBytes, const ShardState& from,
                                            const ShardState& to) const {
  using Kind = ReshardStep::Kind;
  ReshardPlan plan;
  ShardState at = from;
  uint64_t elements = 1;
  for (int64_t size : shape) elements *= size;
  auto localBytes = [&] {
    uint64_t shards = 1;
    for (const AxisParts& parts : at.dims) shards *= getGroupSize(parts);
    return elements / shards * elementBytes;
  };
  auto add = [&](Kind kind, int64_t dim, AxisParts axes, uint64_t before) {
    if (getGroupSize(axes) == 1) return;
    ReshardStep step{kind, dim, 0, merged(axes), {}, 0, 0};
    priceStep(cost, step, before, localBytes());
    plan.seconds += step.seconds;
    plan.sentBytes += step.sentBytes;
    plan.steps.push_back(std::move(step));
  };
  AxisParts reduced, masked;
  for (const AxisPart& part : from.partial)
    if (!llvm::is_contained(to.partial, part)) reduced.push_back(part);
  for (const AxisPart& part : to.partial)
    if (!llvm::is_contained(from.partial, part)) masked.push_back(part);
  add(Kind::AllReduce, 0, reduced, localBytes());
  SmallVector<size_t, 4> kept;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    kept.push_back(0);
    while (kept[dim] < from.dims[dim].size() && kept[dim] < to.dims[dim].size() &&
           from.dims[dim][kept[dim]] == to.dims[dim][kept[dim]])
      ++kept[dim];
    AxisParts gathered(llvm::drop_begin(from.dims[dim], kept[dim]));
    uint64_t before = localBytes();
    at.dims[dim].truncate(kept[dim]);
    add(Kind::AllGather, dim, gathered, before);
  }
  plan.materialises = !isSharded(at) && isSharded(from) && isSharded(to);
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    AxisParts sliced(llvm::drop_begin(to.dims[dim], kept[dim]));
    uint64_t before = localBytes();
    at.dims[dim] = to.dims[dim];
    add(Kind::Slice, dim, sliced, before);
  }
  add(Kind::Mask, 0, masked, localBytes());
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
  }
  llvm_unreachable("all kinds are handled");
}
