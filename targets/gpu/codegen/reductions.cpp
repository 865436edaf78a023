// Rows and columns: walks over the row variables, partial reductions of a thread, and those of the threads that share a
// point. The order of every reduction follows from the schedule: lanes of a thread, then threads pairwise by their
// distance in a warp, then warps one after another.
#include "dialects/fusion/fusion_dialect.h"
#include "targets/gpu/codegen/kernel_emitter.h"
#include "targets/kernels/element_ops.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::gpu;
using LValue = llvm::Value;

/// Elements that a thread loads before it waits for the first of them.
static constexpr int64_t kLoadsAtOnce = 4;

/// Walk p computes the reductions of phase p; one more may follow for values that need them all. Results that overwrite
/// an operand are stored in the last one, when nothing reads the operand any more.
void KernelEmitter::findWalks() {
  walks = plan.phases;
  for (const Store& store : plan.stores) {
    storeWalks.push_back(store.perRowPoint ? plan.nodes[store.value].phase + 1 : 0);
    walks = std::max(walks, storeWalks.back());
  }
  for (auto [store, walk] : llvm::zip(plan.stores, storeWalks))
    if (walk != 0 && llvm::any_of(request.inPlace, [&](InPlacePair pair) { return pair.first == store.result; }))
      walk = walks;
}

void KernelEmitter::emitReductions() {
  bool isColumns = schedule.kind == Schedule::Kind::Columns;
  findWalks();
  LValue* thread = block.thread();
  LValue *slices = b.getInt32(schedule.slices), *items = b.getInt32(schedule.itemsPerBlock());
  slice = isColumns ? b.CreateUDiv(thread, items) : b.CreateURem(thread, slices);
  itemInBlock = isColumns ? b.CreateURem(thread, items) : b.CreateUDiv(thread, slices);
  LValue* number = itemNumber(schedule.itemsPerBlock(), itemInBlock);
  pointExists = isBelow(number, schedule.items);
  // Threads without a point go along with the last one: all are needed where threads wait for each other.
  if (pointExists) {
    auto* last = llvm::ConstantInt::get(number->getType(), schedule.items - 1);
    number = b.CreateSelect(pointExists, number, last);
  }
  Scope point;
  setDigits(point, plan.parallelVars, number, 1);
  values.inScope(point, [&] {
    holdChunks();
    for (unsigned walk = 1; walk <= walks; ++walk) emitWalk(walk, point);
    SmallVector<const Store*> stores;
    for (auto [store, walk] : llvm::zip(plan.stores, storeWalks))
      if (walk == 0) stores.push_back(&store);
    LValue* isFirst = schedule.slices == 1 ? nullptr : b.CreateICmpEQ(slice, b.getInt32(0));
    storePoint(stores, both(pointExists, isFirst));
  });
}

void KernelEmitter::emitWalk(unsigned walk, Scope& point) {
  SmallVector<const Store*> stores;
  SmallVector<unsigned> roots;
  for (auto [store, storeWalk] : llvm::zip(plan.stores, storeWalks))
    if (storeWalk == walk) stores.push_back(&store), roots.push_back(store.value);
  declareAccumulators(walk);
  for (const Accumulator& accumulator : accumulators) roots.push_back(plan.nodes[accumulator.node].operands[0]);
  if (walk == walks && schedule.held > 0 && overwritesRead()) {
    forEachChunk([&](Chunk& chunk) { computeAll(chunk, roots, stores); }, roots);
    block.barrier();
  }
  forEachChunk(
      [&](Chunk& chunk) {
        accumulate(chunk);
        if (!stores.empty()) storeChunk(chunk, stores, both(pointExists, chunk.exists));
      },
      roots);
  finishAccumulators(point);
  values.setPhase(walk);
}

/// Whether threads read, though to no end, what others write over: those without a point or chunk of their own go along
/// with the last one.
bool KernelEmitter::overwritesRead() const {
  return !request.inPlace.empty() &&
         (pointExists || llvm::any_of(held, [](const Chunk& chunk) { return chunk.exists != nullptr; }));
}

/// The row variables of chunk `number` of the row.
void KernelEmitter::setRowDigits(Chunk& chunk, LValue* number) {
  setDigits(chunk.scope, plan.rowVars, number, schedule.lanes);
  if (schedule.lanes > 1) makeLanes(chunk, chunk.scope.variables.lookup(plan.laneVar));
}

/// Functions at each point of a row take longer than loads do.
bool KernelEmitter::hasRowFunctions() const {
  uint64_t row = plan.mask(plan.rowVars);
  return llvm::any_of(plan.nodes, [&](const Node& node) {
    return node.kind == NodeKind::Elementwise && (node.vars & row) != 0 &&
           isa<math::MathDialect>(node.op->getDialect());
  });
}

/// The chunks of the row that this thread keeps; where the row ends before, its last one, which then does not exist.
void KernelEmitter::holdChunks() {
  int64_t chunks = plan.product(plan.rowVars) / schedule.lanes;
  llvm::Type* type = numberType(chunks + schedule.slices);
  auto constant = [&](int64_t value) { return llvm::ConstantInt::get(type, value); };
  held.resize(schedule.held);
  for (auto [turn, chunk] : llvm::enumerate(held)) {
    LValue* number = b.CreateAdd(b.CreateZExt(slice, type), constant(turn * schedule.slices));
    if (static_cast<int64_t>((turn + 1) * schedule.slices) > chunks) {
      chunk.exists = b.CreateICmpULT(number, constant(chunks));
      number = b.CreateSelect(chunk.exists, number, constant(chunks - 1));
    }
    setRowDigits(chunk, number);
  }
}

/// All chunks of this thread's slice: those it holds, or in a loop. `roots`: the nodes that the body needs.
void KernelEmitter::forEachChunk(llvm::function_ref<void(Chunk&)> body, ArrayRef<unsigned> roots) {
  if (schedule.held > 0) {
    for (Chunk& chunk : held) body(chunk);
    return;
  }
  int64_t chunks = plan.product(plan.rowVars) / schedule.lanes;
  llvm::Type* type = numberType(chunks + schedule.slices);
  auto constant = [&](int64_t value) { return llvm::ConstantInt::get(type, value); };
  LValue* first = b.CreateZExt(slice, type);
  for (unsigned root : roots) values.prepare(root);
  // Several chunks at once, so that their loads are in flight together; then what is left.
  int64_t atOnce = hasRowFunctions() ? 1 : std::max<int64_t>(1, kLoadsAtOnce / schedule.lanes);
  int64_t step = atOnce * schedule.slices;
  int64_t whole = chunks / step * step;
  // Threads without a point only wait for the others.
  auto walk = [&](LValue* begin, int64_t end, int64_t turns) {
    LValue* high = pointExists ? b.CreateSelect(pointExists, constant(end), constant(0)) : constant(end);
    block.count(begin, high, constant(turns * schedule.slices), [&](LValue* number) {
      values.inRegion([&] {
        for (int64_t turn = 0; turn < turns; ++turn) {
          Chunk chunk;
          setRowDigits(chunk, b.CreateAdd(number, constant(turn * schedule.slices)));
          body(chunk);
        }
      });
    });
  };
  walk(first, whole, atOnce);
  if (whole < chunks) walk(b.CreateAdd(first, constant(whole)), chunks, 1);
}

void KernelEmitter::declareAccumulators(unsigned walk) {
  fusion::ClusterOp cluster = plan.cluster;
  OpBuilder attributes(cluster.getContext());
  accumulators.clear();
  for (auto [number, node] : llvm::enumerate(plan.nodes)) {
    if (node.kind != NodeKind::Reduce || node.phase != walk) continue;
    Accumulator accumulator{static_cast<unsigned>(number), {}};
    TypedAttr neutral = getNeutralElement(attributes, cast<ReduceOp>(node.op).getKind(), node.type);
    for (unsigned lane = 0; lane < schedule.lanes; ++lane) {
      accumulator.lanes.push_back(block.variable(scalars().computeType(node.type)));
      b.CreateStore(emitScalarConstant(scalars(), neutral, node.type), accumulator.lanes.back());
    }
    accumulators.push_back(std::move(accumulator));
  }
}

void KernelEmitter::accumulate(Chunk& chunk) {
  inLanes(chunk, [&](unsigned lane) {
    for (Accumulator& accumulator : accumulators) {
      const Node& node = plan.nodes[accumulator.node];
      LValue* element = values.value(node.operands[0]);
      if (!element) return;
      llvm::AllocaInst* slot = accumulator.lanes[lane];
      LValue* before = b.CreateLoad(slot->getAllocatedType(), slot);
      LValue* after = emitCombiner(scalars(), cast<ReduceOp>(node.op).getKind(), node.type, before, element);
      b.CreateStore(chunk.exists ? b.CreateSelect(chunk.exists, after, before) : after, slot);
    }
  });
}

/// The slices' values, in all threads of the point.
LValue* KernelEmitter::joinSlices(LValue* value, ReduceKind kind, Type type, unsigned node) {
  bool isColumns = schedule.kind == Schedule::Kind::Columns;
  if (!isColumns)
    for (unsigned distance = 1; distance < std::min(schedule.slices, kWarp); distance *= 2)
      value = emitCombiner(scalars(), kind, type, value, block.exchange(value, distance));
  unsigned groups = isColumns ? schedule.slices : schedule.slices / kWarp;
  if (groups <= 1) return value;
  // A boolean takes a byte.
  llvm::Type* compute = value->getType();
  bool isBoolean = compute->isIntegerTy(1);
  llvm::Type* memory = isBoolean ? b.getInt8Ty() : compute;
  unsigned items = schedule.itemsPerBlock();
  llvm::GlobalVariable* partials = block.sharedArray(memory, static_cast<int64_t>(groups) * items,
                                                     llvm::Twine(request.symbol) + "_partials" + llvm::Twine(node));
  LValue* thread = block.thread();
  auto store = [&](LValue* index) {
    b.CreateStore(isBoolean ? b.CreateZExt(value, memory) : value, block.at(partials, index));
  };
  if (isColumns)
    store(thread);
  else
    block.runIf(b.CreateICmpEQ(b.CreateAnd(thread, b.getInt32(kWarp - 1)), b.getInt32(0)),
                [&] { store(b.CreateLShr(thread, b.getInt32(llvm::Log2_32(kWarp)))); });
  block.barrier();
  LValue* sum = nullptr;
  for (unsigned group = 0; group < groups; ++group) {
    LValue* index = isColumns ? b.CreateAdd(itemInBlock, b.getInt32(group * items))
                              : b.CreateAdd(b.CreateMul(itemInBlock, b.getInt32(groups)), b.getInt32(group));
    LValue* part = b.CreateLoad(memory, block.at(partials, index));
    if (isBoolean) part = b.CreateTrunc(part, compute);
    sum = sum ? emitCombiner(scalars(), kind, type, sum, part) : part;
  }
  return sum;
}

void KernelEmitter::finishAccumulators(Scope& point) {
  for (Accumulator& accumulator : accumulators) {
    const Node& node = plan.nodes[accumulator.node];
    ReduceKind kind = cast<ReduceOp>(node.op).getKind();
    SmallVector<LValue*> lanes;
    for (llvm::AllocaInst* slot : accumulator.lanes) lanes.push_back(b.CreateLoad(slot->getAllocatedType(), slot));
    for (size_t distance = lanes.size() / 2; distance > 0; distance /= 2)
      for (size_t lane = 0; lane < distance; ++lane)
        lanes[lane] = emitCombiner(scalars(), kind, node.type, lanes[lane], lanes[lane + distance]);
    LValue* sum = joinSlices(lanes.front(), kind, node.type, accumulator.node);
    point.values[accumulator.node] = scalars().round(sum, node.type);
  }
}
