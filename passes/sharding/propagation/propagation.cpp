// The propagation graph (an edge list of ops over tensor indices), its schedule and its worklist.
#include "passes/sharding/propagation/propagation.h"

#include "passes/sharding/propagation/annotations.h"
#include "passes/sharding/propagation/factor_propagation.h"

#include <deque>
#include <set>

using namespace mlir;
using namespace mlir::sgd;

static LogicalResult collectBlockRules(Block& block, SmallVectorImpl<RuledOp>& ops) {
  for (Operation& op : block) {
    if (isa<func::ReturnOp>(op)) continue;
    auto constant = dyn_cast<arith::ConstantOp>(op);
    if (constant && isa<RankedTensorType>(constant.getType()) && !isa<DenseElementsAttr>(constant.getValue()))
      return constant.emitError("is no dense constant; expected dense<...> to be sharded; write its elements");
    if (isControlFlow(&op) || isa<YieldOp>(op)) {
      ops.push_back({&op, ShardingRule::empty(&op)});
      for (Region& region : op.getRegions())
        if (!region.empty() && failed(collectBlockRules(region.front(), ops))) return failure();
      continue;
    }
    auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
    if (!ruled)
      return op.emitError() << "'" << op.getName() << "' has no sharding rule; it cannot be used in a sharded program";
    ops.push_back({&op, ruled.getShardingRule()});
  }
  return success();
}

FailureOr<SmallVector<RuledOp, 0>> mlir::sgd::collectRules(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitError("cannot shard a function of several blocks; lower control flow to structured ops first");
  SmallVector<RuledOp, 0> ops;
  if (failed(collectBlockRules(function.front(), ops))) return failure();
  return ops;
}

namespace {
/// Kinds of nodes by the phase in which they join propagation.
enum class NodeClass : uint8_t { PassThrough, DynamicSlice, Broadcast, Other };

/// Ops that cost nothing come first, so that costly ops meet settled shardings. As Shardy's schedule, but
/// slices, pads and concatenations count as passing through: else a projection's backward pass is
/// sharded before its padded halves are. Before matmuls propagate in both directions, the batch
/// flows through them forward: else sharded parameters claim its axis in the backward pass first.
enum Phase : unsigned {
  SingleUsePassThrough,
  PassThrough,
  PassThroughFactorsForward,
  PassThroughFactors,
  AllButBroadcastForward,
  Everything,
  NumPhases
};

struct Node {
  SmallVector<unsigned, 3> tensors;  // operands, then results
  SmallVector<DimFactors, 3> mappings;
  SmallVector<int64_t, 6> sizes;
  SmallVector<bool, 6> canBeSharded, isPassThrough;
  unsigned numOperands = 0;
  NodeClass nodeClass = NodeClass::Other;
  bool isElementwise = false;
  bool hasMultiUseOperand = false;
  bool isSettled = false;
  bool isQueued = false;
};

class Propagation {
 public:
  Propagation(func::FuncOp function, ArrayRef<RuledOp> ops, const MeshAxes& mesh)
      : function(function), ops(ops), mesh(mesh) {}
  FailureOr<ShardingMap> run();

 private:
  void addTensors();
  void addNode(const RuledOp& ruled);
  void addNode(const DataFlowEdge& edge);
  Node getIdentity(ArrayRef<unsigned> tensors, unsigned numOperands, ArrayRef<int64_t> shape);
  void addNode(Node node);
  void addReturn(ArrayRef<Annotation> annotations);
  void apply(const Annotation& annotation, unsigned tensor, int64_t priority);
  void applyUnreduced(const Annotation& annotation);
  void runPhases();
  void runToFixedPoint(Phase phase, ConflictMode mode);
  void visit(Node& node, Phase phase, ConflictMode mode);
  void notify(unsigned tensor);
  void enqueue(unsigned node);

  func::FuncOp function;
  ArrayRef<RuledOp> ops;
  const MeshAxes& mesh;
  ShardingMap map;
  SmallVector<Node, 0> nodes;
  SmallVector<SmallVector<unsigned, 4>, 0> nodesOfTensor;
  std::deque<SmallVector<SmallVector<unsigned, 1>, 4>> identityMappings;
  std::deque<unsigned> worklist;
};
}  // namespace

static bool isShardable(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() > 0;
}

static NodeClass classify(Operation* op, const ShardingRule& rule) {
  if (isa<DynamicSliceOp, DynamicUpdateSliceOp>(op)) return NodeClass::DynamicSlice;
  // One that repeats nothing is a reshape.
  if (isa<BroadcastInDimOp>(op) && !keepsAllElements(op)) return NodeClass::Broadcast;
  return rule.isElementwise || op->hasTrait<MovesElements>() ? NodeClass::PassThrough : NodeClass::Other;
}

void Propagation::addTensors() {
  auto add = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type) return;
    map.indices[value] = map.entries.size();
    map.entries.emplace_back().axes.dims.resize(type.getRank());
  };
  for (Value argument : function.getArguments()) add(argument);
  for (const RuledOp& ruled : ops) {
    for (Value result : ruled.op->getResults()) add(result);
    for (Region& region : ruled.op->getRegions())
      for (Value argument : region.getArguments()) add(argument);
  }
}

void Propagation::addNode(Node node) {
  for (unsigned tensor : node.tensors) nodesOfTensor[tensor].push_back(nodes.size());
  nodes.push_back(std::move(node));
}

/// Joins tensors of `shape` that are one value: dimension i of each belongs to dimension i of the others.
Node Propagation::getIdentity(ArrayRef<unsigned> tensors, unsigned numOperands, ArrayRef<int64_t> shape) {
  auto& mapping = identityMappings.emplace_back(shape.size());
  for (unsigned dim = 0; dim < shape.size(); ++dim) mapping[dim].push_back(dim);
  Node node;
  node.tensors.assign(tensors.begin(), tensors.end());
  node.mappings.assign(tensors.size(), DimFactors(mapping));
  node.sizes.assign(shape.begin(), shape.end());
  node.canBeSharded.assign(shape.size(), true);
  node.isPassThrough.assign(shape.size(), true);
  node.numOperands = numOperands;
  node.nodeClass = NodeClass::PassThrough;
  node.isElementwise = true;
  return node;
}

void Propagation::addNode(const DataFlowEdge& edge) {
  if (!isShardable(edge.getOwner())) return;
  SmallVector<unsigned> tensors;
  auto add = [&](Value value) {
    if (unsigned tensor = map.indices.lookup(value); !llvm::is_contained(tensors, tensor)) tensors.push_back(tensor);
  };
  for (OpOperand* source : edge.sources) add(source->get());
  for (Value target : edge.targets) add(target);
  if (tensors.size() < 2) return;
  unsigned numOperands = std::min(edge.sources.size(), tensors.size() - 1);
  addNode(getIdentity(tensors, numOperands, cast<RankedTensorType>(edge.getOwner().getType()).getShape()));
}

void Propagation::addNode(const RuledOp& ruled) {
  if (ruled.rule.factors.empty()) return;
  Node node;
  const ShardingRule& rule = ruled.rule;
  auto add = [&](Value value, const TensorMapping& mapping) {
    if (!isShardable(value)) return;
    node.tensors.push_back(map.indices.lookup(value));
    node.mappings.push_back(mapping);
  };
  for (auto [operand, mapping] : llvm::zip(ruled.op->getOperands(), rule.operands)) {
    add(operand, mapping);
    node.hasMultiUseOperand |= isShardable(operand) && !operand.hasOneUse();
  }
  node.numOperands = node.tensors.size();
  for (auto [result, mapping] : llvm::zip(ruled.op->getResults(), rule.results)) add(result, mapping);
  if (node.tensors.size() < 2) return;
  for (const Factor& factor : rule.factors) {
    node.sizes.push_back(factor.size);
    // Reshapes without common boundaries exchange tiles where both sides are sharded, but spread nothing.
    bool spreads = !rule.exchangesTiles || factor.kind == FactorKind::PassThrough;
    node.canBeSharded.push_back(factor.canBeSharded() && spreads);
    node.isPassThrough.push_back(factor.kind == FactorKind::PassThrough);
  }
  node.nodeClass = classify(ruled.op, rule);
  node.isElementwise = rule.isElementwise;
  addNode(std::move(node));
}

/// Annotated function results are tensors of their own, joined to the returned values by the
/// identity.
void Propagation::addReturn(ArrayRef<Annotation> annotations) {
  Operation* terminator = function.getBody().front().getTerminator();
  map.functionResults.resize(terminator->getNumOperands());
  for (const Annotation& annotation : annotations) {
    if (annotation.value) continue;
    Value returned = terminator->getOperand(annotation.functionResult);
    ArrayRef<int64_t> shape = cast<RankedTensorType>(returned.getType()).getShape();
    unsigned tensor = map.entries.size();
    map.functionResults[annotation.functionResult] = tensor;
    map.entries.emplace_back().axes.dims.resize(shape.size());
    nodesOfTensor.emplace_back();
    Node node = getIdentity({map.indices.lookup(returned), tensor}, /*numOperands=*/1, shape);
    node.hasMultiUseOperand = !returned.hasOneUse();
    addNode(std::move(node));
  }
}

/// Adds the annotation's dimensions of `priority`. Axes of earlier priorities stay; the
/// annotation continues them where it can. A closed dimension of a later priority takes nothing until then.
void Propagation::apply(const Annotation& annotation, unsigned tensor, int64_t priority) {
  ShardingMap::Entry& entry = map.entries[tensor];
  TensorAxes wanted = mesh.toTensorAxes(annotation.sharding);
  if (priority == 0) {
    entry.axes.replicated = wanted.replicated;
    entry.axes.unreduced = wanted.unreduced;
    entry.unreducedKind = annotation.sharding.getUnreducedKind();
  }
  for (auto [index, dim] : llvm::enumerate(annotation.sharding.getDims())) {
    DimAxes& current = entry.axes.dims[index];
    if (priority == 0 && dim.getPriority().value_or(0) > 0) current.isOpen = dim.getIsOpen();
    if (dim.getPriority().value_or(0) != priority) continue;
    AxisParts axes = wanted.dims[index].axes;
    for (auto [other, otherDim] : llvm::enumerate(entry.axes.dims))
      if (other != index) axes = prefixWithoutOverlap(axes, otherDim.axes);
    if (isPrefix(current.axes, axes)) current.axes = axes;
    current.isOpen = dim.getIsOpen();
  }
  notify(tensor);
}

/// An annotation of a partial value is one of the value it is made from, when nothing else reads that value.
void Propagation::applyUnreduced(const Annotation& annotation) {
  if (!annotation.sharding.isPartial()) return;
  Value source;
  if (!annotation.value)
    source = function.getBody().front().getTerminator()->getOperand(annotation.functionResult);
  else if (auto constraint = annotation.value.getDefiningOp<ShardingConstraintOp>())
    source = constraint.getInput();
  // So is one of what is moved before, up to another annotation.
  while (source && source.hasOneUse() && source.getDefiningOp()) {
    ShardingMap::Entry& entry = map[source];
    entry.axes.unreduced = mesh.toParts(annotation.sharding.getUnreduced());
    entry.unreducedKind = annotation.sharding.getUnreducedKind();
    Operation* op = source.getDefiningOp();
    bool isMove = op->hasTrait<MovesElements>() && op->getNumOperands() == 1 && !isa<ShardingConstraintOp>(op);
    source = isMove ? op->getOperand(0) : Value();
  }
}

/// Directions in which a factor of `node` may spread axes in `phase`.
static Direction directionOf(const Node& node, unsigned factor, Phase phase) {
  if (!node.canBeSharded[factor]) return Direction::None;
  bool usesAllow = phase > SingleUsePassThrough || !node.hasMultiUseOperand;
  switch (node.nodeClass) {
    case NodeClass::PassThrough:
      return usesAllow ? Direction::Both : Direction::None;
    case NodeClass::Broadcast:
      if (phase < PassThroughFactors) return Direction::None;
      return phase == Everything ? Direction::Both : Direction::Backward;
    case NodeClass::DynamicSlice:
      if (phase < PassThroughFactors) return usesAllow ? Direction::Forward : Direction::None;
      return Direction::Both;
    case NodeClass::Other:
      if (phase == PassThroughFactorsForward && node.isPassThrough[factor]) return Direction::Forward;
      if (phase < PassThroughFactors) return Direction::None;
      return phase > PassThroughFactors || node.isPassThrough[factor] ? Direction::Both : Direction::None;
  }
  llvm_unreachable("all classes are handled");
}

void Propagation::enqueue(unsigned index) {
  if (nodes[index].isQueued) return;
  nodes[index].isQueued = true;
  worklist.push_back(index);
}

void Propagation::notify(unsigned tensor) {
  for (unsigned index : nodesOfTensor[tensor]) {
    nodes[index].isSettled = false;
    enqueue(index);
  }
}

void Propagation::visit(Node& node, Phase phase, ConflictMode mode) {
  SmallVector<Direction, 6> directions;
  for (unsigned factor = 0; factor < node.sizes.size(); ++factor)
    directions.push_back(directionOf(node, factor, phase));
  if (llvm::all_of(directions, [](Direction direction) { return direction == Direction::None; })) return;
  if (llvm::none_of(node.tensors, [&](unsigned tensor) { return map.entries[tensor].axes.isSharded(); })) return;

  SmallVector<TensorFactors, 4> tensors;
  for (auto [tensor, mapping] : llvm::zip(node.tensors, node.mappings))
    tensors.push_back(project(map.entries[tensor].axes, mapping, node.sizes));
  OpFactors factors{node.sizes, directions, tensors, node.numOperands, node.isElementwise};
  if (isSettled(factors)) {
    node.isSettled = true;
    return;
  }
  if (!propagateFactors(factors, mode)) return;
  for (auto [tensor, mapping, projected] : llvm::zip(node.tensors, node.mappings, tensors))
    if (expandDims(map.entries[tensor].axes, mapping, node.sizes, projected)) notify(tensor);
}

void Propagation::runToFixedPoint(Phase phase, ConflictMode mode) {
  for (unsigned index = 0; index < nodes.size(); ++index)
    if (!nodes[index].isSettled) enqueue(index);
  while (!worklist.empty()) {
    Node& node = nodes[worklist.front()];
    worklist.pop_front();
    node.isQueued = false;
    visit(node, phase, mode);
  }
}

void Propagation::runPhases() {
  if (llvm::none_of(map.entries, [](const ShardingMap::Entry& entry) { return entry.axes.isSharded(); })) return;
  for (unsigned phase = 0; phase < NumPhases; ++phase) {
    // Basic would stop a batch at the first matmul with a parameter that is sharded along it.
    if (phase != PassThroughFactorsForward) runToFixedPoint(static_cast<Phase>(phase), ConflictMode::Basic);
    runToFixedPoint(static_cast<Phase>(phase), ConflictMode::Aggressive);
  }
}

FailureOr<ShardingMap> Propagation::run() {
  FailureOr<SmallVector<Annotation>> annotations = collectAnnotations(function, mesh);
  if (failed(annotations)) return failure();
  addTensors();
  nodesOfTensor.resize(map.entries.size());
  for (const RuledOp& ruled : ops) {
    addNode(ruled);
    if (!isControlFlow(ruled.op)) continue;
    for (const DataFlowEdge& edge : getDataFlowEdges(ruled.op)) addNode(edge);
  }
  addReturn(*annotations);

  std::set<int64_t> priorities = {0};
  for (const Annotation& annotation : *annotations)
    for (DimShardingAttr dim : annotation.sharding.getDims()) priorities.insert(dim.getPriority().value_or(0));
  for (const Annotation& annotation : *annotations) applyUnreduced(annotation);
  for (int64_t priority : priorities) {
    for (const Annotation& annotation : *annotations)
      apply(annotation,
            annotation.value ? map.indices.lookup(annotation.value) : *map.functionResults[annotation.functionResult],
            priority);
    runPhases();
  }
  return std::move(map);
}

FailureOr<ShardingMap> mlir::sgd::propagateShardings(func::FuncOp function, ArrayRef<RuledOp> ops,
                                                     const MeshAxes& mesh) {
  return Propagation(function, ops, mesh).run();
}
