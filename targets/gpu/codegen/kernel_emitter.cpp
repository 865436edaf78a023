// Points to threads, and results to memory.
#include "targets/gpu/codegen/kernel_emitter.h"

#include "targets/kernels/element_ops.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::gpu;
using LValue = llvm::Value;

KernelEmitter::KernelEmitter(llvm::Module& module, const KernelPlan& plan, const KernelRequest& request)
    : plan(plan),
      request(request),
      schedule(makeSchedule(plan)),
      b(module.getContext()),
      block(b),
      entry(createEntryPoint(module, b, request, plan.coordinates.size(), schedule.threads)),
      values(b, plan, entry, request.symbol) {}

LogicalResult KernelEmitter::run() {
  if (schedule.blocks > 0) {
    Scope outermost;
    values.inScope(outermost, [&] {
      switch (schedule.kind) {
        case Schedule::Kind::Points:
          return emitPoints();
        case Schedule::Kind::Rows:
        case Schedule::Kind::Columns:
          return emitReductions();
        case Schedule::Kind::Tiles:
          return emitTiles();
        case Schedule::Kind::Scatter:
          return emitScatter();
        case Schedule::Kind::ScatterTogether:
          return emitScatterTogether();
      }
    });
  }
  b.CreateRetVoid();
  return success(!values.hasFailed());
}

void KernelEmitter::runWhere(LValue* condition, Body body) {
  if (!condition) return body();
  block.runIf(condition, [&] { values.inRegion(body); });
}

/// 32 bits where they do: dividing numbers of 64 takes several times as long.
llvm::IntegerType* KernelEmitter::numberType(int64_t count) {
  return count < (int64_t{1} << 31) ? b.getInt32Ty() : b.getInt64Ty();
}

LValue* KernelEmitter::itemNumber(int64_t perBlock, LValue* inBlock) {
  llvm::Type* type = numberType(schedule.blocks * perBlock);
  LValue* number = b.CreateZExt(block.block(), type);
  return b.CreateAdd(b.CreateMul(number, llvm::ConstantInt::get(type, perBlock)), b.CreateZExt(inBlock, type));
}

LValue* KernelEmitter::isBelow(LValue* number, int64_t count) {
  if (schedule.blocks * schedule.itemsPerBlock() == count) return nullptr;
  return b.CreateICmpULT(number, llvm::ConstantInt::get(number->getType(), count));
}

void KernelEmitter::setDigits(Scope& scope, ArrayRef<unsigned> vars, LValue* number, unsigned lanes) {
  for (size_t position = vars.size(); position-- > 0;) {
    unsigned var = vars[position];
    bool isLane = position + 1 == vars.size() && lanes > 1;
    int64_t extent = plan.space.extent(var) / (isLane ? lanes : 1);
    LValue* digit = number;
    if (position > 0) {
      auto* divisor = llvm::ConstantInt::get(number->getType(), extent);
      digit = extent == 1 ? llvm::ConstantInt::get(number->getType(), 0) : b.CreateURem(number, divisor);
      number = extent == 1 ? number : b.CreateUDiv(number, divisor);
    }
    LValue* value = b.CreateZExt(digit, b.getInt64Ty());
    scope.set(var, isLane ? b.CreateMul(value, b.getInt64(lanes)) : value);
  }
}

/// Takes the lane variable out of the chunk's own scope: each lane has its value.
void KernelEmitter::makeLanes(Chunk& chunk, LValue* firstLane) {
  chunk.scope.lanes = schedule.lanes;
  chunk.scope.firstLane = firstLane;
  chunk.scope.variables.erase(plan.laneVar);
  chunk.scope.vars &= ~(uint64_t{1} << plan.laneVar);
  chunk.lanes.resize(schedule.lanes);
  for (auto [number, lane] : llvm::enumerate(chunk.lanes)) {
    lane.chunk = &chunk.scope;
    lane.lane = number;
    lane.set(plan.laneVar, b.CreateAdd(firstLane, b.getInt64(number)));
  }
}

void KernelEmitter::inLanes(Chunk& chunk, llvm::function_ref<void(unsigned)> emitLane) {
  values.inScope(chunk.scope, [&] {
    if (chunk.lanes.empty()) return emitLane(0);
    for (auto [number, lane] : llvm::enumerate(chunk.lanes))
      values.inScope(lane, [&, number = number] { emitLane(number); });
  });
}

void KernelEmitter::emitPoints() {
  LValue* number = itemNumber(schedule.threads, block.thread());
  SmallVector<unsigned> vars(plan.parallelVars);
  vars.append(plan.rowVars);
  SmallVector<const Store*> stores;
  for (const Store& store : plan.stores) stores.push_back(&store);
  runWhere(isBelow(number, schedule.items), [&] {
    Chunk chunk;
    setDigits(chunk.scope, vars, number, schedule.lanes);
    if (schedule.lanes > 1) makeLanes(chunk, chunk.scope.variables.lookup(plan.laneVar));
    storeChunk(chunk, stores, nullptr);
  });
}

// Results
// ---------------------------------------------------------------------------------------------------------------

void KernelEmitter::storeElement(const Store& store, LValue* result) {
  Type type = plan.nodes[store.value].type;
  llvm::Type* memory = scalars().memoryType(type);
  LValue* where = values.address(entry.results[store.result], type, store.index);
  b.CreateAlignedStore(scalars().toMemory(result, type), where, llvm::Align(memory->getScalarSizeInBits() / 8));
}

void KernelEmitter::computeAll(Chunk& chunk, ArrayRef<unsigned> nodes, ArrayRef<const Store*> stores) {
  inLanes(chunk, [&](unsigned) {
    for (unsigned node : nodes) values.value(node);
    for (const Store* store : stores) values.index(store->index);
  });
}

void KernelEmitter::storeChunk(Chunk& chunk, ArrayRef<const Store*> stores, LValue* condition) {
  SmallVector<SmallVector<LValue*>> results(stores.size());
  // Everything is read, places included, before anything is written: results may take operands' places.
  inLanes(chunk, [&](unsigned) {
    for (auto [store, lanes] : llvm::zip(stores, results)) {
      lanes.push_back(values.value(store->value));
      values.index(store->index);
    }
  });
  if (values.hasFailed()) return;
  runWhere(condition, [&] {
    for (auto [store, lanes] : llvm::zip(stores, results)) {
      Type type = plan.nodes[store->value].type;
      llvm::Type* scalar = scalars().memoryType(type);
      if (lanes.size() == 1 || !isVector(plan, store->index, lanes.size())) {
        inLanes(chunk, [&, store = store, &lanes = lanes](unsigned lane) { storeElement(*store, lanes[lane]); });
        continue;
      }
      LValue* vector = llvm::PoisonValue::get(llvm::FixedVectorType::get(scalar, lanes.size()));
      for (auto [lane, result] : llvm::enumerate(lanes))
        vector = b.CreateInsertElement(vector, scalars().toMemory(result, type), lane);
      LValue* where = nullptr;
      values.inScope(chunk.scope, [&, store = store] {
        values.inScope(chunk.lanes.front(),
                       [&] { where = values.address(entry.results[store->result], type, store->index); });
      });
      b.CreateAlignedStore(vector, where, llvm::Align(scalar->getScalarSizeInBits() / 8 * lanes.size()));
    }
  });
}

void KernelEmitter::storePoint(ArrayRef<const Store*> stores, LValue* condition) {
  if (stores.empty()) return;
  SmallVector<LValue*> results;
  for (const Store* store : stores) {
    results.push_back(values.value(store->value));
    values.index(store->index);
  }
  if (values.hasFailed()) return;
  // Threads that share the point, or go along with it, have read what one of them overwrites.
  if (!request.inPlace.empty() && (schedule.slices > 1 || overwritesRead())) block.barrier();
  runWhere(condition, [&] {
    for (auto [store, result] : llvm::zip(stores, results)) storeElement(*store, result);
  });
}
