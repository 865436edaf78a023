// Bodies are written before the loop exists, so that iter_args are added as they are needed.
#include "passes/time/sequential/loop_writer.h"

#include "dialects/sgd/tensor_type.h"
#include "passes/time/sequential/compute_onto.h"
#include "passes/time/sequential/loop_schedule.h"

using namespace mlir;
using namespace mlir::sgd;

static constexpr unsigned kMaxChain = 16;

static TypedAttr getSplat(RankedTensorType type, Attribute element) {
  return cast<TypedAttr>(Attribute(DenseElementsAttr::get(type, element)));
}

void LoopContext::setResults() {
  for (State& state : states)
    if (state.setResult && state.current) std::exchange(state.setResult, nullptr)(state.current);
}

LoopWriter::LoopWriter(LoopContext& context, Location loc, int64_t trips)
    : context(context), loc(loc), trips(trips), body(&region.emplaceBlock()), builder(context.axis.getContext()) {
  builder.setInsertionPointToEnd(body);
  auto scalar = RankedTensorType::get({}, builder.getI32Type());
  iteration = part = body->addArgument(scalar, loc);
  iterArgs.push_back({Value(), getSplat(scalar, builder.getI32IntegerAttr(0)), Value(), nullptr});
}

static Value createIndex(OpBuilder& builder, Location loc, int64_t value) {
  auto scalar = RankedTensorType::get({}, builder.getI32Type());
  return arith::ConstantOp::create(builder, loc,
                                   getSplat(scalar, builder.getI32IntegerAttr(static_cast<int32_t>(value))));
}

/// Where part `number` of dimension `dim` begins.
static SmallVector<Value> createStarts(OpBuilder& builder, Location loc, int64_t rank, unsigned dim, int64_t size,
                                       Value number) {
  SmallVector<Value> starts;
  for (unsigned other = 0; other < rank; ++other)
    if (other != dim)
      starts.push_back(createIndex(builder, loc, 0));
    else if (size == 1)
      starts.push_back(number);
    else
      starts.push_back(arith::MulIOp::create(builder, loc, number, createIndex(builder, loc, size)));
  return starts;
}

Value mlir::sgd::createPart(OpBuilder& builder, Location loc, Value whole, unsigned dim, int64_t size, Value number) {
  RankedTensorType type = tensorType(whole);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  SmallVector<Value> starts = createStarts(builder, loc, type.getRank(), dim, size, number);
  return DynamicSliceOp::create(builder, loc, type.clone(shape), whole, starts, shape);
}

Value LoopWriter::index(int64_t value) { return createIndex(builder, loc, value); }

llvm::iterator_range<Block::iterator> LoopWriter::getOpsOfTask() {
  return {beforeTask ? std::next(beforeTask->getIterator()) : body->begin(), body->end()};
}

/// Marks what the task has added.
void LoopWriter::endTask() {
  for (Operation& op : getOpsOfTask()) op.setLoc(markPart(op.getLoc(), taskPart));
  beforeTask = body->empty() ? nullptr : &body->back();
}

void LoopWriter::markTask(Phase phase) {
  for (Operation& op : getOpsOfTask()) op.setLoc(markPhase(op.getLoc(), phase));
}

void LoopWriter::beginTask(int64_t first, int64_t stride) {
  endTask();
  taskPart = {first, stride};
  mapping = shared;
  part = iteration;
  if (stride != 1) part = arith::MulIOp::create(builder, loc, part, index(stride));
  if (first != 0) part = arith::AddIOp::create(builder, loc, part, index(first));
}

Value LoopWriter::capture(Value value) {
  if (Value mapped = mapping.lookupOrNull(value)) return mapped;
  Value argument = body->addArgument(value.getType(), value.getLoc());
  iterArgs.push_back({value, TypedAttr(), Value(), nullptr});
  mapping.map(value, argument);
  shared.map(value, argument);
  return argument;
}

unsigned LoopWriter::addState(LoopContext::State& state) {
  auto [place, isNew] = stateArgs.try_emplace(&state, iterArgs.size());
  if (!isNew) return place->second;
  body->addArgument(state.type, loc);
  iterArgs.push_back({state.current, state.init, Value(), &state});
  return place->second;
}

Value LoopWriter::getCurrent(LoopContext::State& state) {
  unsigned place = addState(state);
  return iterArgs[place].next ? iterArgs[place].next : body->getArgument(place);
}

/// State that begins as a splat of `init` and becomes what `next` makes of it.
LoopContext::State& LoopWriter::change(const void* key, RankedTensorType type, Attribute init,
                                       llvm::function_ref<Value(Value)> next) {
  LoopContext::State*& state = context.byKey[key];
  if (!state) {
    context.states.push_back({type, getSplat(type, init)});
    state = &context.states.back();
  }
  LoopContext::State& changed = *state;
  unsigned place = addState(changed);
  Value value = next(getCurrent(changed));
  iterArgs[place].next = value;
  return changed;
}

/// Where the coordinate is among so many places.
Value LoopWriter::getPlace(int64_t places) {
  if (places >= context.axis.getSize()) return part;
  if (places == 1) return index(0);
  return RemUIOp::create(builder, loc, part, index(places));
}

Value LoopWriter::updateAt(Value into, Value value, unsigned dim, int64_t size, Value number) {
  return DynamicUpdateSliceOp::create(builder, loc, into.getType(), into, value,
                                      createStarts(builder, loc, tensorType(into).getRank(), dim, size, number));
}

/// Whether a kernel of the body computes the value instead of reading it: copies of a smaller value, and functions of
/// constants, iotas and the rank alone. `seen` are values that are.
static bool isMadeInPlace(Value value, llvm::SmallDenseSet<Value>& seen, unsigned depth = 0) {
  Operation* op = value.getDefiningOp();
  if (!op || depth > kMaxChain) return false;
  if (seen.contains(value) || (depth == 0 && isa<BroadcastInDimOp>(op))) return true;
  if (!LoopSchedule::isCheap(op) ||
      !llvm::all_of(op->getOperands(), [&](Value operand) { return isMadeInPlace(operand, seen, depth + 1); }))
    return false;
  seen.insert(value);
  return true;
}

Value LoopWriter::get(Value value) {
  if (Value mapped = mapping.lookupOrNull(value)) return mapped;
  Operation* op = value.getDefiningOp();
  if (auto found = context.stored.find(value); found != context.stored.end()) {
    auto [state, places] = found->second;
    Value all = getCurrent(*state);
    Value own = ReshapeOp::create(builder, loc, value.getType(), createPart(builder, loc, all, 0, 1, getPlace(places)));
    mapping.map(value, own);
    return own;
  }
  llvm::SmallDenseSet<Value> seen;
  if (!isMadeInPlace(value, seen)) return capture(value);
  for (Value operand : op->getOperands()) get(operand);
  return builder.clone(*op, mapping)->getResult(0);
}

/// The linear index over axes of which one is the sequential one: that of the axes before it, the iteration, that of
/// the axes behind it.
void LoopWriter::addPartitionId(spmd::PartitionIdOp id) {
  ArrayRef<AxisRefAttr> axes = id.getAxes().getAxes();
  MeshAttr mesh = lookupMesh(id, context.meshName);
  auto place =
      llvm::find_if(axes, [&](AxisRefAttr ref) { return ref.getName() == context.axis.getName(); }) - axes.begin();
  auto getId = [&](ArrayRef<AxisRefAttr> of) -> Value {
    auto list = AxisListAttr::get(id.getContext(), context.meshName, of);
    return spmd::PartitionIdOp::create(builder, loc, id.getType(), list);
  };
  ArrayRef<AxisRefAttr> before = axes.take_front(place), behind = axes.drop_front(place + 1);
  Value result = part;
  if (!before.empty()) {
    Value scaled = arith::MulIOp::create(builder, loc, getId(before), index(context.axis.getSize()));
    result = arith::AddIOp::create(builder, loc, scaled, result);
  }
  if (!behind.empty()) {
    int64_t size = 1;
    for (AxisRefAttr ref : behind) size *= ref.getNumShards(mesh);
    result = arith::MulIOp::create(builder, loc, result, index(size));
    result = arith::AddIOp::create(builder, loc, result, getId(behind));
  }
  mapping.map(id.getResult(), result);
}

void LoopWriter::add(Operation* op) {
  if (auto id = dyn_cast<spmd::PartitionIdOp>(op)) return addPartitionId(id);
  if (auto slice = dyn_cast<spmd::ShardSliceOp>(op); slice && namesAxis(slice.getAxes(), context.axis)) {
    unsigned dim = slice.getDim();
    Value whole = get(slice.getInput());
    mapping.map(slice.getResult(), createPart(builder, loc, whole, dim, tensorType(slice).getDimSize(dim), part));
    return;
  }
  for (Value operand : op->getOperands()) get(operand);
  builder.clone(*op, mapping);
}

/// In which `type` is accumulated.
static RankedTensorType getSumType(RankedTensorType type, ReduceKind kind) {
  bool isSum = kind == ReduceKind::Add || kind == ReduceKind::Mul;
  bool isShort = isa<FloatType>(type.getElementType()) && type.getElementType().getIntOrFloatBitWidth() <= 16;
  return isSum && isShort ? type.clone(Float32Type::get(type.getContext())) : type;
}

void LoopWriter::accumulate(spmd::AllReduceOp op) {
  for (auto [operand, result] : llvm::zip(op.getInputs(), op.getResults())) {
    RankedTensorType type = tensorType(operand),
                     sumType = context.sumsInOwnType ? type : getSumType(type, op.getKind());
    auto next = [&, operand = operand](Value sum) {
      Value own = get(operand);
      if (sumType != type) own = arith::ExtFOp::create(builder, loc, sumType, own);
      if (operand.hasOneUse())
        if (Value more = computeOnto(sum, own, op.getKind())) return more;
      return createCombiner(builder, op.getLoc(), op.getKind(), sum, own);
    };
    auto setResult = [result = Value(result), type, at = op.getLoc()](Value sum) {
      OpBuilder after(sum.getContext());
      after.setInsertionPointAfterValue(sum);
      if (sum.getType() != type) sum = arith::TruncFOp::create(after, at, type, sum);
      Value(result).replaceAllUsesWith(sum);
    };
    Attribute neutral = getNeutralElement(builder, op.getKind(), sumType.getElementType());
    change(result.getAsOpaquePointer(), sumType, neutral, next).setResult = setResult;
  }
}

void LoopWriter::gather(Value value, unsigned dim, const void* key, SetResult setResult) {
  if (auto slice = value.getDefiningOp<spmd::ShardSliceOp>();
      slice && namesAxis(slice.getAxes(), context.axis) && slice.getDim() == dim && !context.given.contains(value))
    return setResult(slice.getInput());
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> shape(type.getShape());
  int64_t size = shape[dim];
  shape[dim] *= context.axis.getSize();
  auto next = [&](Value all) { return updateAt(all, get(value), dim, size, part); };
  change(key, type.clone(shape), builder.getZeroAttr(type.getElementType()), next).setResult = std::move(setResult);
}

void LoopWriter::keep(Value value) {
  RankedTensorType type = tensorType(value);
  change(value.getAsOpaquePointer(), type, builder.getZeroAttr(type.getElementType()), [&](Value) {
    return get(value);
  }).setResult = [value](Value kept) { Value(value).replaceAllUsesWith(kept); };
}

void LoopWriter::store(Value value, int64_t places) {
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> row{1}, all{places};
  llvm::append_range(row, type.getShape());
  llvm::append_range(all, type.getShape());
  auto next = [&](Value stack) {
    return updateAt(stack, ReshapeOp::create(builder, loc, type.clone(row), get(value)), 0, 1, getPlace(places));
  };
  LoopContext::State& state =
      change(value.getAsOpaquePointer(), type.clone(all), builder.getZeroAttr(type.getElementType()), next);
  context.stored[value] = {&state, places};
}

void LoopWriter::finish(OpBuilder& outer) {
  endTask();
  iterArgs.front().next = arith::AddIOp::create(builder, loc, iteration, index(1));
  SmallVector<Value> inits, next;
  for (auto [place, iterArg] : llvm::enumerate(iterArgs)) {
    inits.push_back(iterArg.init ? iterArg.init : arith::ConstantOp::create(outer, loc, iterArg.constant).getResult());
    next.push_back(iterArg.next ? iterArg.next : body->getArgument(place));
  }
  SmallVector<Value> results;
  if (trips == 1) {
    Block* block = outer.getInsertionBlock();
    for (auto [argument, init] : llvm::zip(body->getArguments(), inits)) argument.replaceAllUsesWith(init);
    for (Value value : next) {
      auto argument = dyn_cast<BlockArgument>(value);
      results.push_back(argument && argument.getOwner() == body ? inits[argument.getArgNumber()] : value);
    }
    block->getOperations().splice(outer.getInsertionPoint(), body->getOperations());
  } else {
    YieldOp::create(builder, loc, next);
    auto loop = WhileOp::create(outer, loc, inits, trips);
    loop.getBody().takeBody(region);
    llvm::append_range(results, loop.getResults());
  }
  for (auto [iterArg, result] : llvm::zip(iterArgs, results))
    if (iterArg.state) iterArg.state->current = result;
}
