// Stores of a kernel: results at one point of its domain, and the initial values and updates of a scatter.
#include "targets/kernels/element_ops.h"
#include "targets/cpu/codegen/kernel_emitter.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::cpu;
using LValue = llvm::Value;

void KernelEmitter::emitStores(unsigned inWalk) {
  bool all = !plan.isReduction();  // without reductions every store is at the innermost point
  SmallVector<std::pair<const Store*, LValue*>> ready;
  for (auto [store, walkOfStore] : llvm::zip(plan.stores, walks.storeWalk)) {
    if (!all && walkOfStore != inWalk) continue;
    bool vector = width > 1 && (plan.laneInRow ? (all || inWalk != 0) : plan.laneVar != kNone);
    ready.push_back({&store, vector ? lanesOf(store.value) : value(store.value)});
    address(store.index);  // what it depends on is read before anything is written
  }
  for (auto [store, result] : ready) {
    if (!result) return;
    Type type = plan.nodes[store->value].type;
    bool vector = result->getType()->isVectorTy();
    VectorBuilder v(b, vector ? width : 1);
    LValue* memory = v.toMemory(result, type);
    llvm::Type* scalar = v.memoryType(type);
    llvm::Align align(module.getDataLayout().getTypeAllocSize(scalar));
    Address target = address(store->index);
    LValue* where = b.CreateInBoundsGEP(scalar, resultPointers[store->result], target.scalar);
    if (!vector)
      b.CreateAlignedStore(memory, where, align);
    else if (target.laneStep == 1 && !target.perLane)
      mask ? static_cast<llvm::Instruction*>(b.CreateMaskedStore(memory, where, align, mask))
           : b.CreateAlignedStore(memory, where, align);
    else
      b.CreateMaskedScatter(
          memory, b.CreateInBoundsGEP(scalar, resultPointers[store->result], indexLanes(store->index)), align, mask);
  }
}

void KernelEmitter::emitScatter() {
  const ScatterLoops& loops = *plan.scatter;
  ScatterOp op = loops.op;
  ScatterKind kind = op.getKind();
  Type type = plan.nodes[loops.initValue].type;
  bool varies = plan.laneVar != kNone && width > 1;
  VectorBuilder v(b, varies ? width : 1);
  llvm::Type* scalar = v.memoryType(type);
  llvm::Align align(module.getDataLayout().getTypeAllocSize(scalar));
  auto store = [&](LValue* result, LValue* where) {
    LValue* memory = v.toMemory(result, type);
    mask ? static_cast<llvm::Instruction*>(b.CreateMaskedStore(memory, where, align, mask))
         : b.CreateAlignedStore(memory, where, align);
  };
  auto lanes = [&](unsigned node) { return varies ? lanesOf(node) : value(node); };
  emitRowLoops(loops.initVars, [&] {
    LValue* initial = lanes(loops.initValue);
    if (initial) store(initial, b.CreateGEP(scalar, resultPointers[0], address(loops.initIndex).scalar));
  });
  emitRowLoops(loops.updateVars, [&] {
    LValue *update = lanes(loops.update), *inside = loops.inside == kNone ? nullptr : value(loops.inside);
    if (!update) return;
    // An update that is not inside leaves the first element of this part unchanged.
    LValue* offset = address(loops.target).scalar;
    if (inside) offset = b.CreateSelect(inside, offset, address(loops.fallback).scalar);
    LValue* where = b.CreateGEP(scalar, resultPointers[0], offset);
    llvm::Type* memoryType = v.lanes(scalar);
    LValue* memory = mask ? maskedLoad(memoryType, where, align, mask) : b.CreateAlignedLoad(memoryType, where, align);
    LValue* before = v.fromMemory(memory, type);
    LValue* after = emitScatterCombiner(v, kind, type, before, update);
    store(inside ? b.CreateSelect(inside, after, before) : after, where);
  });
}
