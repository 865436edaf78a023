// Dimensions first, by the sharding rules in both directions, then states in the order of the program. Loops settle:
// what they carry only turns from whole to partial.
#include "passes/time/sequential/sequential_sharding.h"

#include "dialects/sgd/tensor_layout.h"
#include "dialects/sgd/tensor_type.h"
#include "passes/sharding/propagation/annotations.h"
#include "passes/sharding/propagation/constants.h"
#include "passes/sharding/propagation/partial_values.h"

using namespace mlir;
using namespace mlir::sgd;

using Mapping = ArrayRef<SmallVector<unsigned, 1>>;

static bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

/// The dimension whose major factor is `factor`.
static std::optional<unsigned> findDim(Mapping mapping, unsigned factor) {
  for (auto [dim, factors] : llvm::enumerate(mapping))
    if (!factors.empty() && factors.front() == factor) return dim;
  return std::nullopt;
}

/// Operands and results that are tensors, each with its mapping.
static void forEachTensor(Operation* op, const ShardingRule& rule, llvm::function_ref<void(Value, Mapping, bool)> fn) {
  for (auto [value, mapping] : llvm::zip(op->getOperands(), rule.operands))
    if (isTensor(value)) fn(value, mapping, /*isResult=*/false);
  for (auto [value, mapping] : llvm::zip(op->getResults(), rule.results))
    if (isTensor(value)) fn(value, mapping, /*isResult=*/true);
}

bool SequentialSharding::isInLoop(Operation* op) { return !isa<func::FuncOp>(op->getParentOp()); }

SequentialSharding::SequentialSharding(func::FuncOp function, const SequentialAxis& axis,
                                       const DenseMap<Value, unsigned>& arguments, bool sumsInOwnType)
    : function(function), axis(axis), sumsInOwnType(sumsInOwnType), blocks(function, axis, arguments) {
  addRules(function.front());
  do {
    findStates(arguments);
  } while (std::exchange(isStale, false));
  SmallVector<BlockArgument> next = getNextArguments(function);
  for (OpOperand& operand : function.front().getTerminator()->getOpOperands()) {
    BlockArgument argument = next[operand.getOperandNumber()];
    SequentialState state = get(argument ? argument : operand.get());
    needed[&operand] = state.isCut() ? state : SequentialState();
  }
}

void SequentialSharding::findStates(const DenseMap<Value, unsigned>& arguments) {
  states.clear();
  partials.clear();
  whole.clear();
  dims = blocks.getDims();
  for (auto [argument, dim] : arguments) {
    if (!blocks.getUneven().empty()) break;
    bool isOverRanks = !axis.getRankAxes(getSharding(argument.getType())).dims[dim].axes.empty();
    if (!isKeptWhole(argument) && !(isOverRanks && blocks.leadsToBlocks(argument))) dims[argument] = dim;
  }
  propagate();
  for (BlockArgument argument : function.getArguments())
    if (auto dim = dims.find(argument); dim != dims.end()) states[argument] = SequentialState::cut(dim->second);
  visit(function.front());
}

void SequentialSharding::addRules(Block& block) {
  for (Operation& op : block) {
    if (auto flow = dyn_cast<DataFlowOpInterface>(op)) {
      for (const DataFlowEdge& edge : flow.getDataFlowEdges()) {
        if (edge.isChosen()) changed.insert_range(edge.targets);
        edges.push_back(edge);
      }
      for (Region& region : op.getRegions())
        if (!region.empty()) addRules(region.front());
      continue;
    }
    ShardingRule rule;
    if (auto reshard = dyn_cast<ReshardOp>(op))
      rule = ShardingRule::elementwise(reshard);
    else if (auto ruled = dyn_cast<ShardingRuleOpInterface>(op))
      rule = ruled.getShardingRule();
    else
      continue;
    positions[&op] = ops.size();
    SmallVector<bool, 4> isCuttable = getCuttable(&op, rule);
    ops.push_back({&op, std::move(rule), std::move(isCuttable)});
  }
}

/// A factor can be cut where it is the major one of a dimension in each tensor that has it, with equal parts for all
/// ranks that shard it.
SmallVector<bool, 4> SequentialSharding::getCuttable(Operation* op, const ShardingRule& rule) const {
  SmallVector<bool, 4> isCuttable;
  for (const Factor& factor : rule.factors)
    isCuttable.push_back((factor.kind == FactorKind::PassThrough || factor.kind == FactorKind::Reduction) &&
                         factor.size % axis.getSize() == 0);
  SmallVector<int64_t> sizes = rule.factorSizes();
  forEachTensor(op, rule, [&](Value value, Mapping mapping, bool) {
    auto type = cast<RankedTensorType>(value.getType());
    TensorAxes held = axis.getRankAxes(getSharding(type));
    TensorFactors projected = project(held, mapping, sizes);
    for (unsigned dim = 0; dim < mapping.size(); ++dim)
      for (auto [place, factor] : llvm::enumerate(mapping[dim])) {
        bool isMajor = place == 0;
        int64_t parts = axis.getSize() * getGroupSize(projected.factors[factor].axes);
        bool fits = isMajor && sizes[factor] % parts == 0 && axis.divides(type, dim);
        for (unsigned minor : ArrayRef<unsigned>(mapping[dim]).drop_front())
          fits &= projected.factors[minor].axes.empty() && projected.factors[minor].overflow.empty();
        isCuttable[factor] = isCuttable[factor] && fits;
      }
  });
  // Blocks that only their owners have read (sgd.owner_only) go back to the owners that there are over ranks.
  if (getBlockOperands(op).size() == 2)
    for (auto [whole, part] : llvm::zip(rule.operands[0], rule.operands[1]))
      if (whole != part)
        for (unsigned factor : whole) isCuttable[factor] = false;
  return isCuttable;
}

// Dimensions
// ----------------------------------------------------------------------------------------------------------

bool SequentialSharding::assign(Value value, unsigned dim) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && isa<func::FuncOp>(argument.getOwner()->getParentOp())) return false;
  if (isKeptWhole(value)) return false;
  return axis.divides(cast<RankedTensorType>(value.getType()), dim) && dims.try_emplace(value, dim).second;
}

/// From operands to results, or from any tensor to operands.
bool SequentialSharding::propagate(const Ruled& ruled, bool forward) {
  SmallVector<unsigned, 2> factors;
  forEachTensor(ruled.op, ruled.rule, [&](Value value, Mapping mapping, bool isResult) {
    auto found = dims.find(value);
    if (found == dims.end() || mapping[found->second].empty() || (forward && isResult)) return;
    unsigned factor = mapping[found->second].front();
    if (ruled.isCuttable[factor] && !llvm::is_contained(factors, factor)) factors.push_back(factor);
  });
  bool isChanged = false;
  for (unsigned factor : factors)
    forEachTensor(ruled.op, ruled.rule, [&](Value value, Mapping mapping, bool isResult) {
      if (std::optional<unsigned> dim = findDim(mapping, factor); dim && forward == isResult)
        isChanged |= assign(value, *dim);
    });
  return isChanged;
}

bool SequentialSharding::propagate(const DataFlowEdge& edge, bool forward) {
  auto isAssigned = [&](Value value) { return dims.contains(value); };
  std::optional<unsigned> dim;
  for (OpOperand* source : edge.sources)
    if (forward && isAssigned(source->get())) dim = dims[source->get()];
  for (Value target : edge.targets)
    if (isAssigned(target)) dim = dims[target];
  if (!dim) return false;
  bool isChanged = false;
  for (Value target : edge.targets) isChanged |= assign(target, *dim);
  for (OpOperand* source : edge.sources)
    if (!forward) isChanged |= assign(source->get(), *dim);
  return isChanged;
}

void SequentialSharding::propagate() {
  auto sweep = [&](bool forward) {
    bool isChanged = false;
    for (size_t i = 0; i < ops.size(); ++i) isChanged |= propagate(ops[forward ? i : ops.size() - 1 - i], forward);
    for (const DataFlowEdge& edge : edges) isChanged |= propagate(edge, forward);
    return isChanged;
  };
  do {
    while (sweep(/*forward=*/true)) {
    }
  } while (sweep(/*forward=*/false));
}

// States
// ----------------------------------------------------------------------------------------------------------

void SequentialSharding::set(Operation* op, SequentialState operands, SequentialState results) {
  for (OpOperand& operand : op->getOpOperands()) needed[&operand] = operands;
  for (Value result : op->getResults()) states[result] = results;
}

void SequentialSharding::visit(Block& block) {
  for (Operation& op : block) visit(op);
}

void SequentialSharding::visit(Operation& op) {
  if (auto flow = dyn_cast<DataFlowOpInterface>(op)) return visitDataFlow(flow);
  auto position = positions.find(&op);
  if (position == positions.end()) return;
  const Ruled& ruled = ops[position->second];
  if (llvm::any_of(op.getResults(), [&](Value result) { return isKeptWhole(result); }))
    return set(&op, SequentialState(), SequentialState());
  if (!visitBlock(&op) && !visitPartial(ruled)) visitRuled(ruled);
}

/// Whether `value` is computed for all coordinates, whatever its readers need.
bool SequentialSharding::isKeptWhole(Value value) const { return blocks.isWhole(value) || keptWhole.contains(value); }

/// Blocks of summands: written into a sum of such, or read from one in a loop.
bool SequentialSharding::visitBlock(Operation* op) {
  SmallVector<OpOperand*, 2> operands = getBlockOperands(op);
  auto isPartial = [&](OpOperand* operand) { return get(operand->get()).isPartial(); };
  auto partial = llvm::find_if(operands, isPartial);
  if (partial == operands.end() || (operands.size() == 1 && !isInLoop(op))) return false;
  SequentialState state = get((*partial)->get());
  set(op, SequentialState(), state);
  for (OpOperand* operand : operands) needed[operand] = state;
  return true;
}

/// Whether `op` adds up its operands, all of them summands of one kind. In a loop, where nothing can be reduced, values
/// that are whole are summands too, in one coordinate.
bool SequentialSharding::joinsSummands(Operation* op, SequentialState state) const {
  return joinsPartials(op, state.reduceKind) && llvm::all_of(op->getOperands(), [&](Value operand) {
           return get(operand) == state || isNeutralConstant(operand, state.reduceKind) ||
                  (isInLoop(op) && get(operand).isWhole());
         });
}

/// Whether `op` has partial operands and gives summands of its result. Outside of loops sums are taken as soon as they
/// are summands: what follows is then computed once. Only sums of sums, and conversions to wider types, come before.
bool SequentialSharding::visitPartial(const Ruled& ruled) {
  Operation* op = ruled.op;
  auto isPartial = [&](Value value) { return get(value).isPartial(); };
  auto first = llvm::find_if(op->getOperands(), isPartial);
  if (first == op->operand_end()) return false;
  SequentialState state = get(*first);
  if (joinsSummands(op, state)) {
    set(op, state, state);
    return true;
  }
  unsigned operand = std::distance(op->operand_begin(), first);
  // In a loop ranks reduce the sums of each coordinate, where that could not be left for after the loop.
  if (isa<ReshardOp>(op) && isInLoop(op)) {
    set(op, state, state);
    return true;
  }
  if (!carriesSummands(op, operand, state)) return false;
  set(op, SequentialState(), state);
  needed[&op->getOpOperand(operand)] = state;
  // Constants that are added are neutral, others are factors; arith wants one type.
  for (OpOperand& other : op->getOpOperands())
    if (joinsPartials(op, state.reduceKind) || isFactor(op, other.getOperandNumber(), state.reduceKind))
      needed[&other] = state;
  return true;
}

/// Whether `op` gives summands of its result for summands of `operand` alone. In loops, where nothing can be reduced,
/// it may scale them by any values that are whole, and may round them.
bool SequentialSharding::carriesSummands(Operation* op, unsigned operand, SequentialState state) const {
  auto isOtherWhole = [&](OpOperand& other) {
    return other.getOperandNumber() == operand || get(other.get()).isWhole();
  };
  if (isa<ReshardOp>(op) || llvm::count_if(op->getOperands(), [&](Value value) { return get(value).isPartial(); }) != 1)
    return false;
  bool carries = carriesPartial(op, operand, state.reduceKind);
  if (!isInLoop(op)) return carries && isa<arith::ExtFOp>(op) && !sumsInOwnType;
  bool isLinear = getLinearity(op, operand, state.reduceKind) == Linearity::Alone;
  return carries || (isLinear && llvm::all_of(op->getOpOperands(), isOtherWhole));
}

/// The factor that cuts the op: the one that most bytes of its operands, as they are, and of its results agree on.
std::optional<unsigned> SequentialSharding::chooseFactor(const Ruled& ruled) {
  SmallVector<int64_t, 4> bytes(ruled.rule.factors.size());
  forEachTensor(ruled.op, ruled.rule, [&](Value value, Mapping mapping, bool isResult) {
    std::optional<unsigned> dim;
    if (SequentialState state = get(value); !isResult && state.isCut()) dim = state.dim;
    if (auto found = dims.find(value); isResult && found != dims.end()) dim = found->second;
    // Empty tensors count too: cut like their neighbors, they join no coordinates.
    if (dim && !mapping[*dim].empty()) bytes[mapping[*dim].front()] += getByteSize(value.getType()) + 1;
  });
  std::optional<unsigned> best;
  for (unsigned factor = 0; factor < bytes.size(); ++factor)
    if (ruled.isCuttable[factor] && bytes[factor] > (best ? bytes[*best] : 0)) best = factor;
  return best;
}

void SequentialSharding::visitRuled(const Ruled& ruled) {
  Operation* op = ruled.op;
  set(op, SequentialState(), SequentialState());
  if (op->getNumResults() == 1 && isMadeFreely(op->getResult(0))) {
    if (auto found = dims.find(op->getResult(0)); found != dims.end())
      states[op->getResult(0)] = SequentialState::cut(found->second);
    return;
  }
  std::optional<unsigned> factor = chooseFactor(ruled);
  if (!factor) return;
  const Factor& cut = ruled.rule.factors[*factor];
  SequentialState partial = SequentialState::partial(cut.reduceKind);
  for (auto [operand, mapping] : llvm::zip(op->getOpOperands(), ruled.rule.operands)) {
    if (std::optional<unsigned> dim = findDim(mapping, *factor)) needed[&operand] = SequentialState::cut(*dim);
    if (cut.kind == FactorKind::Reduction && ruled.rule.accumulator == operand.getOperandNumber())
      needed[&operand] = partial;
  }
  for (auto [result, mapping] : llvm::zip(op->getResults(), ruled.rule.results)) {
    if (std::optional<unsigned> dim = findDim(mapping, *factor))
      states[result] = SequentialState::cut(*dim);
    else if (cut.kind == FactorKind::Reduction)
      states[result] = partial;
  }
}
