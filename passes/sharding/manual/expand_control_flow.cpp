// Loops and branches. Values that differ between ranks are carried with leading dimensions. Where ranks differ about
// going on, the loop runs as long as any of them does, and the others' values stay unchanged; where they choose
// different branches, each coordinate of the leading dimensions selects its own.
#include "dialects/sgd/by_rank.h"
#include "llvm/Support/SaveAndRestore.h"
#include "passes/sharding/manual/manual_expansion.h"

using namespace mlir;
using namespace mlir::sgd;

/// Whether `region` must know for which ranks it runs: a loop in it may be endless if it runs with arbitrary values,
/// and other ranks must not call the host.
static bool needsActive(Region& region) {
  return region
      .walk([](Operation* op) {
        auto loop = dyn_cast<WhileOp>(op);
        return (loop && !loop.getTrips()) || isa<HostCallOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

static Value createOne(OpBuilder& builder, Location loc, Type type, int64_t number) {
  auto tensor = cast<RankedTensorType>(type);
  return arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(tensor, Attribute(builder.getIntegerAttr(tensor.getElementType(), number))));
}

static void yield(OpBuilder& builder, Location loc, ArrayRef<Batched> values) {
  YieldOp::create(builder, loc, llvm::map_to_vector(values, [](const Batched& value) { return value.value; }));
}

/// `chosen` where `mask` says so, else `other`; `mask` differs over no axes over which these do not.
Batched ManualExpansion::select(Location loc, const Batched& mask, const Batched& chosen, const Batched& other) {
  AxisIndices axes = unite(unite(chosen.axes, other.axes), mask.axes);
  Batched first = batch.spread(loc, chosen, axes), second = batch.spread(loc, other, axes);
  SmallVector<int64_t> dims;
  for (auto [position, axis] : llvm::enumerate(axes))
    if (llvm::is_contained(mask.axes, axis)) dims.push_back(position);
  OpBuilder& builder = batch.getBuilder();
  Value flags = BroadcastInDimOp::create(builder, loc, first.getType().clone(builder.getI1Type()), mask.value, dims);
  return {arith::SelectOp::create(builder, loc, flags, first.value, second.value), axes};
}

/// A block of `expanded` for that of `region`, with arguments of `types` that differ over `axes`: those for the
/// `passed` ones of the region's, then others, which are returned. The region's further arguments are known and made
/// inside.
SmallVector<Batched> ManualExpansion::openRegion(Region& region, Region& expanded, TypeRange types,
                                                 ArrayRef<AxisIndices> axes, ArrayRef<unsigned> passed, Location loc) {
  Block* block = batch.getBuilder().createBlock(&expanded, {}, types, SmallVector<Location>(types.size(), loc));
  SmallVector<Batched> more;
  for (auto [index, argument] : llvm::enumerate(block->getArguments())) {
    Batched pinned = pin(loc, {argument, axes[index]});
    if (index < passed.size())
      values[region.getArgument(passed[index])] = pinned;
    else
      more.push_back(pinned);
  }
  for (BlockArgument argument : region.getArguments())
    if (!llvm::is_contained(passed, argument.getArgNumber())) defineKnown(loc, argument);
  return more;
}

/// Whether another trip follows for each rank, given what is carried.
FailureOr<Batched> ManualExpansion::computePredicate(WhileOp loop, ArrayRef<unsigned> passed,
                                                     ArrayRef<Batched> iterArgs) {
  Block& condition = loop.getCondition().front();
  for (auto [iterArg, value] : llvm::zip(passed, iterArgs)) values[condition.getArgument(iterArg)] = value;
  for (BlockArgument argument : condition.getArguments())
    if (!llvm::is_contained(passed, argument.getArgNumber())) defineKnown(loop.getLoc(), argument);
  if (failed(expandBlock(condition))) return failure();
  return batch.spread(loop.getLoc(), lookup(condition.getTerminator()->getOperand(0)),
                      differing.getPredicateAxes(loop));
}

/// A condition that all ranks agree on, or that any of them goes on.
LogicalResult ManualExpansion::expandCondition(WhileOp loop, WhileOp expanded, ArrayRef<unsigned> passed) {
  OpBuilder& builder = batch.getBuilder();
  OpBuilder::InsertionGuard guard(builder);
  Location loc = loop.getLoc();
  TypeRange types = expanded.getResultTypes();
  if (!isByRank(expanded)) {
    auto axes = llvm::map_to_vector(
        passed, [&](unsigned iterArg) { return differing.getAxes(loop.getBody().getArgument(iterArg)); });
    openRegion(loop.getCondition(), expanded.getCondition(), types, axes, passed, loc);
    if (failed(expandBlock(loop.getCondition().front()))) return failure();
    yield(builder, loc, lookup(loop.getCondition().front().getTerminator()->getOperand(0)));
    return success();
  }
  Block* block = builder.createBlock(&expanded.getCondition(), {}, types, SmallVector<Location>(types.size(), loc));
  Batched predicate = pin(loc, {block->getArguments().back(), differing.getPredicateAxes(loop)});
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, predicate.axes.size()));
  Value any = ReduceOp::create(builder, loc, RankedTensorType::get({}, builder.getI1Type()), predicate.value,
                               ReduceKind::Or, dims);
  yield(builder, loc, Batched{any, {}});
  return success();
}

LogicalResult ManualExpansion::expandLoopBody(WhileOp loop, WhileOp expanded, ArrayRef<unsigned> passed) {
  OpBuilder& builder = batch.getBuilder();
  OpBuilder::InsertionGuard guard(builder);
  llvm::SaveAndRestore inside(active);
  Location loc = loop.getLoc();
  SmallVector<AxisIndices> axes;
  for (unsigned iterArg : passed) axes.push_back(differing.getAxes(loop.getBody().getArgument(iterArg)));
  bool hasFlag = expanded.getNumResults() > passed.size();
  if (hasFlag) axes.push_back(isByRank(expanded) ? differing.getPredicateAxes(loop) : active->axes);
  SmallVector<Batched> flag =
      openRegion(loop.getBody(), expanded.getBody(), expanded.getResultTypes(), axes, passed, loc);
  if (hasFlag) active = flag[0];
  SmallVector<Batched> carried;
  for (unsigned iterArg : passed) carried.push_back(lookup(loop.getBody().getArgument(iterArg)));
  if (failed(expandBlock(loop.getBody().front()))) return failure();
  for (auto [position, iterArg] : llvm::enumerate(passed)) {
    if (loop.isInvariant(iterArg)) {
      // Without the pin: the iter_arg yields its own argument.
      carried[position].value = expanded.getBody().getArgument(position);
      continue;
    }
    if (failed(checkOperand(loop, loop.getYielded()[iterArg]))) return failure();
    Batched next = batch.spread(loc, lookup(loop.getYielded()[iterArg]), axes[position]);
    assert(next.axes == axes[position] && "what is carried differs over more axes than the analysis found");
    carried[position] = isByRank(expanded) ? select(loc, *active, next, carried[position]) : next;
  }
  if (isByRank(expanded)) {
    FailureOr<Batched> goesOn = computePredicate(loop, passed, carried);
    if (failed(goesOn)) return failure();
    carried.push_back({arith::AndIOp::create(builder, loc, active->value, goesOn->value), active->axes});
  } else if (hasFlag) {
    carried.push_back({expanded.getBody().front().getArguments().back(), active->axes});
  }
  yield(builder, loc, carried);
  return success();
}

LogicalResult ManualExpansion::expandLoop(WhileOp loop) {
  OpBuilder& builder = batch.getBuilder();
  Location loc = loop.getLoc();
  SmallVector<unsigned> passed;
  SmallVector<Batched> iterArgs;
  for (auto [iterArg, init] : llvm::enumerate(loop.getInits())) {
    if (loop.isInvariant(iterArg) && ranks.isKnown(init)) continue;
    if (failed(checkOperand(loop, init))) return failure();
    passed.push_back(iterArg);
    iterArgs.push_back(
        pin(loc, batch.spread(loc, lookup(init), differing.getAxes(loop.getBody().getArgument(iterArg)))));
  }
  AxisIndices predicateAxes = differing.getPredicateAxes(loop);
  if (!predicateAxes.empty()) {
    FailureOr<Batched> first = computePredicate(loop, passed, iterArgs);
    if (failed(first)) return failure();
    if (active)
      first->value = arith::AndIOp::create(builder, loc, first->value, batch.spread(loc, *active, predicateAxes).value);
    iterArgs.push_back(pin(loc, *first));
  } else if (active && needsActive(loop.getBody())) {
    iterArgs.push_back(*active);
  }
  SmallVector<Value> inits = llvm::map_to_vector(iterArgs, [](const Batched& iterArg) { return iterArg.value; });
  auto expanded = WhileOp::create(builder, loc, loop, inits);
  setByRank(expanded, !predicateAxes.empty());
  if (failed(expandLoopBody(loop, expanded, passed))) return failure();
  if (!loop.getTrips() && failed(expandCondition(loop, expanded, passed))) return failure();
  for (auto [result, init] : llvm::zip(loop.getResults(), loop.getInits())) {
    if (auto found = beyond.find(init); found != beyond.end() && loop.isInvariant(result.getResultNumber()))
      beyond[result] = found->second;
    else
      values[result] = lookup(init);
  }
  for (auto [position, iterArg] : llvm::enumerate(passed))
    if (!loop.isInvariant(iterArg))
      values[loop.getResult(iterArg)] = pin(loc, {expanded.getResult(position), iterArgs[position].axes});
  return success();
}

/// An index outside of the branches means the last one.
Batched ManualExpansion::clampIndex(Location loc, const Batched& index, int64_t branches) {
  OpBuilder& builder = batch.getBuilder();
  Value last = createOne(builder, loc, index.getType(), branches - 1);
  return {arith::MinUIOp::create(builder, loc, index.value, last), index.axes};
}

LogicalResult ManualExpansion::expandBranch(CaseOp branches, CaseOp expanded, unsigned branch,
                                            ArrayRef<unsigned> passed) {
  OpBuilder& builder = batch.getBuilder();
  OpBuilder::InsertionGuard guard(builder);
  llvm::SaveAndRestore inside(active);
  Location loc = branches.getLoc();
  Region& region = branches.getBranches()[branch];
  SmallVector<AxisIndices> axes;
  for (unsigned input : passed) axes.push_back(differing.getAxes(branches.getInputs()[input]));
  size_t extra = expanded.getInputs().size() - passed.size();
  bool passesIndex = extra > 0 && choosesByCoordinate(expanded);
  if (passesIndex) axes.push_back(differing.getAxes(branches.getIndex()));
  if (extra > (passesIndex ? 1 : 0)) axes.push_back(active->axes);
  SmallVector<Batched> more =
      openRegion(region, expanded.getBranches()[branch], expanded.getInputs().getTypes(), axes, passed, loc);
  std::optional<Batched> outer = more.size() > (passesIndex ? 1 : 0) ? std::optional(more.back()) : std::nullopt;
  if (outer) active = outer;
  if (passesIndex) {
    Value number = createOne(builder, loc, more[0].getType(), branch);
    Value isOwn = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, more[0].value, number);
    active = Batched{isOwn, more[0].axes};
    if (outer) {
      active = batch.spread(loc, *active, outer->axes);
      active->value = arith::AndIOp::create(builder, loc, active->value, batch.spread(loc, *outer, active->axes).value);
    }
  }
  if (failed(expandBlock(region.front()))) return failure();
  for (Value value : region.front().getTerminator()->getOperands())
    if (failed(checkOperand(branches, value))) return failure();
  SmallVector<Batched> yielded;
  for (auto [value, result] : llvm::zip(region.front().getTerminator()->getOperands(), branches.getResults()))
    yielded.push_back(batch.spread(loc, lookup(value), differing.getAxes(result)));
  yield(builder, loc, yielded);
  return success();
}

/// Runs the branches one after another, each for the ranks that choose it: a `sgd.case` that chooses by coordinate may
/// compute all of them for all ranks, and has results.
LogicalResult ManualExpansion::expandEachBranch(CaseOp branches) {
  OpBuilder& builder = batch.getBuilder();
  Location loc = branches.getLoc();
  Batched index = pin(loc, clampIndex(loc, lookup(branches.getIndex()), branches.getBranches().size()));
  SmallVector<Batched> results;
  for (auto [number, region] : llvm::enumerate(branches.getBranches())) {
    llvm::SaveAndRestore inside(active);
    Value own = createOne(builder, loc, index.getType(), number);
    Batched chosen{arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, index.value, own), index.axes};
    AxisIndices axes = active ? unite(active->axes, index.axes) : index.axes;
    Value runs = batch.spread(loc, chosen, axes).value;
    if (active) runs = arith::AndIOp::create(builder, loc, runs, batch.spread(loc, *active, axes).value);
    active = Batched{runs, axes};
    for (auto [argument, input] : llvm::zip(region.getArguments(), branches.getInputs())) {
      if (ranks.isKnown(input))
        defineKnown(loc, argument);
      else
        values[argument] = lookup(input);
    }
    if (failed(expandBlock(region.front()))) return failure();
    Operation* yield = region.front().getTerminator();
    for (auto [result, value] : llvm::enumerate(yield->getOperands())) {
      if (failed(checkOperand(branches, value))) return failure();
      if (number == 0)
        results.push_back(lookup(value));
      else
        results[result] = select(loc, chosen, lookup(value), results[result]);
    }
  }
  for (auto [result, value] : llvm::zip(branches.getResults(), results))
    values[result] = pin(loc, batch.spread(loc, value, differing.getAxes(result)));
  return success();
}

LogicalResult ManualExpansion::expandCase(CaseOp branches) {
  OpBuilder& builder = batch.getBuilder();
  Location loc = branches.getLoc();
  bool callsHost = static_cast<bool>(findHostCall(branches));
  if (branches.getNumResults() == 0 && !callsHost) return success();
  // Coordinates of all results have an index.
  AxisIndices indexAxes = differing.getAxes(branches.getIndex());
  if (callsHost && !indexAxes.empty()) return expandEachBranch(branches);
  Batched index = batch.spread(loc, lookup(branches.getIndex()), indexAxes);
  if (!indexAxes.empty()) index = pin(loc, clampIndex(loc, index, branches.getBranches().size()));
  Batched chooser =
      indexAxes.empty() ? index : pin(loc, batch.spread(loc, index, differing.getAxes(branches.getResult(0))));
  SmallVector<unsigned> passed;
  SmallVector<Value> inputs;
  for (auto [position, input] : llvm::enumerate(branches.getInputs())) {
    if (ranks.isKnown(input)) continue;
    passed.push_back(position);
    inputs.push_back(pin(loc, batch.spread(loc, lookup(input), differing.getAxes(input))).value);
  }
  if (llvm::any_of(branches.getBranches(), [](Region& region) { return needsActive(region); })) {
    if (!indexAxes.empty()) inputs.push_back(index.value);
    if (active) inputs.push_back(active->value);
  }
  SmallVector<Type> types = llvm::map_to_vector(branches.getResults(), [&](Value result) -> Type {
    return batch.getBatchedType(differing.getAxes(result), result.getType());
  });
  auto expanded = CaseOp::create(builder, loc, types, chooser.value, inputs, branches.getBranches().size());
  for (unsigned branch = 0; branch < branches.getBranches().size(); ++branch)
    if (failed(expandBranch(branches, expanded, branch, passed))) return failure();
  for (auto [result, value] : llvm::zip(branches.getResults(), expanded.getResults()))
    values[result] = pin(loc, {value, differing.getAxes(result)});
  return success();
}
