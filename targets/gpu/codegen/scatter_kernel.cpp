// Scatters whose updates may meet. A thread has one parallel point and a range of the first variable that updates move
// along: it goes through all updates in order and applies those that fall into its range, so that an element's updates
// are combined in the order of the operand, whatever the grid. Where all threads of a block have one range, each looks
// at one update of as many, and they vote which of them all apply.
#include "targets/gpu/codegen/kernel_emitter.h"
#include "targets/kernels/element_ops.h"
#include "targets/kernels/scalar_loops.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::gpu;
using LValue = llvm::Value;

/// Nested loops over `vars`.
void KernelEmitter::emitUpdates(ArrayRef<unsigned> vars, Body body) {
  if (vars.empty()) return body();
  block.count(b.getInt64(0), b.getInt64(plan.space.extent(vars.front())), b.getInt64(1), [&](LValue* position) {
    values.inRegion([&] {
      Scope scope;
      scope.set(vars.front(), position);
      values.inScope(scope, [&] { emitUpdates(vars.drop_front(), body); });
    });
  });
}

std::pair<LValue*, LValue*> KernelEmitter::partRange(LValue* part) {
  const ScatterLoops& loops = *plan.scatter;
  int64_t extent = loops.initVars.empty() ? 1 : plan.space.extent(loops.initVars.front());
  LValue* perPart = b.getInt64(llvm::divideCeil(extent, schedule.parts));
  LValue* low = b.CreateMul(part, perPart);
  return {low, scalars().binary(llvm::Intrinsic::smin, b.CreateAdd(low, perPart), b.getInt64(extent))};
}

void KernelEmitter::storeInitial(LValue* low, LValue* high) {
  const ScatterLoops& loops = *plan.scatter;
  auto storeOne = [&] { storeElement({0, loops.initValue, loops.initIndex, false}, values.value(loops.initValue)); };
  if (loops.initVars.empty()) return storeOne();
  block.count(low, high, b.getInt64(1), [&](LValue* position) {
    values.inRegion([&] {
      Scope scope;
      scope.set(loops.initVars.front(), position);
      values.inScope(scope, [&] { emitUpdates(ArrayRef(loops.initVars).drop_front(), storeOne); });
    });
  });
}

/// Elements of a part are, beyond the point's first one, in a range: other variables move by less than a step of the
/// first.
LValue* KernelEmitter::isInPart(LValue* low, LValue* high) {
  const ScatterLoops& loops = *plan.scatter;
  LValue* inside = loops.inside == kNone ? b.getTrue() : values.value(loops.inside);
  if (!inside || loops.initVars.empty()) return inside;
  int64_t step = loops.initIndex.coefficient(loops.initVars.front());
  LValue* at = values.index(loops.target + loops.fallback * -1);
  LValue* isAbove = b.CreateICmpSGE(at, b.CreateMul(low, b.getInt64(step)));
  return b.CreateAnd(inside, b.CreateAnd(isAbove, b.CreateICmpSLT(at, b.CreateMul(high, b.getInt64(step)))));
}

void KernelEmitter::applyUpdate() {
  const ScatterLoops& loops = *plan.scatter;
  ScatterOp op = loops.op;
  Type type = plan.nodes[loops.initValue].type;
  llvm::Type* memory = scalars().memoryType(type);
  llvm::Align align(memory->getScalarSizeInBits() / 8);
  LValue* update = values.value(loops.update);
  if (!update) return;
  LValue* where = values.address(entry.results[0], type, loops.target);
  LValue* before = scalars().fromMemory(b.CreateAlignedLoad(memory, where, align), type);
  LValue* after = emitScatterCombiner(scalars(), op.getKind(), type, before, update);
  b.CreateAlignedStore(scalars().toMemory(after, type), where, align);
}

void KernelEmitter::emitScatter() {
  LValue* number = itemNumber(schedule.threads, block.thread());
  runWhere(isBelow(number, schedule.items), [&] {
    // Neighbouring threads have neighbouring points, in the same part.
    auto* points = llvm::ConstantInt::get(number->getType(), plan.product(plan.parallelVars));
    Scope point;
    setDigits(point, plan.parallelVars, b.CreateURem(number, points), 1);
    auto [low, high] = partRange(widen(b.CreateUDiv(number, points)));
    values.inScope(point, [&, low = low, high = high] {
      storeInitial(low, high);
      emitUpdates(plan.scatter->updateVars, [&] {
        if (LValue* inPart = isInPart(low, high)) runWhere(inPart, [&] { applyUpdate(); });
      });
    });
  });
}

void KernelEmitter::emitScatterTogether() {
  int64_t chunks = llvm::divideCeil(schedule.items, schedule.threads);
  llvm::Type* type = numberType(schedule.blocks + schedule.items + schedule.threads);
  LValue* number = b.CreateZExt(block.block(), type);
  auto [low, high] = partRange(widen(b.CreateUDiv(number, llvm::ConstantInt::get(type, chunks))));
  LValue* chunk = b.CreateURem(number, llvm::ConstantInt::get(type, chunks));
  LValue* position = b.CreateAdd(b.CreateMul(chunk, llvm::ConstantInt::get(type, schedule.threads)),
                                 b.CreateZExt(block.thread(), type));
  LValue* exists = b.CreateICmpULT(position, llvm::ConstantInt::get(type, schedule.items));
  Scope point;
  setDigits(point, plan.parallelVars, position, 1);
  values.inScope(point, [&, low = low, high = high] {
    runWhere(exists, [&] { storeInitial(low, high); });
    int64_t updates = plan.product(plan.scatter->updateVars);
    block.count(b.getInt64(0), b.getInt64(updates), b.getInt64(schedule.threads),
                [&](LValue* first) { values.inRegion([&] { emitTileOfUpdates(first, low, high, exists); }); });
  });
}

/// The updates from `first` on, one for each thread to look at.
void KernelEmitter::emitTileOfUpdates(LValue* first, LValue* low, LValue* high, LValue* pointExists) {
  const ScatterLoops& loops = *plan.scatter;
  ScalarLoops scalarLoops(b);
  unsigned warps = schedule.threads / kWarp;
  if (!votes) votes = block.sharedArray(b.getInt32Ty(), warps, llvm::Twine(request.symbol) + "_votes");
  llvm::AllocaInst* vote = scalarLoops.variable(b.getFalse());
  LValue* own = b.CreateAdd(first, widen(block.thread()));
  runWhere(b.CreateICmpULT(own, b.getInt64(plan.product(loops.updateVars))), [&] {
    Scope update;
    setDigits(update, loops.updateVars, own, 1);
    values.inScope(update, [&] {
      if (LValue* inPart = isInPart(low, high)) b.CreateStore(inPart, vote);
    });
  });
  LValue* mask = block.ballot(scalarLoops.get(vote));
  LValue* isFirst = b.CreateICmpEQ(b.CreateAnd(block.thread(), b.getInt32(kWarp - 1)), b.getInt32(0));
  LValue* warp = b.CreateLShr(block.thread(), b.getInt32(llvm::Log2_32(kWarp)));
  block.runIf(isFirst, [&] { b.CreateStore(mask, block.at(votes, warp)); });
  block.barrier();
  block.count(b.getInt32(0), b.getInt32(warps), b.getInt32(1), [&](LValue* word) {
    llvm::AllocaInst* left = scalarLoops.variable(b.CreateLoad(b.getInt32Ty(), block.at(votes, word)));
    LValue* ofWord = b.CreateAdd(first, widen(b.CreateMul(word, b.getInt32(kWarp))));
    scalarLoops.repeatWhile([&] { return b.CreateICmpNE(scalarLoops.get(left), b.getInt32(0)); },
                            [&] {
                              LValue* bits = scalarLoops.get(left);
                              LValue* bit = b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, b.getTrue());
                              scalarLoops.set(left, b.CreateAnd(bits, b.CreateSub(bits, b.getInt32(1))));
                              runWhere(pointExists, [&] {
                                Scope update;
                                setDigits(update, loops.updateVars, b.CreateAdd(ofWord, widen(bit)), 1);
                                values.inScope(update, [&] { applyUpdate(); });
                              });
                            });
  });
  // The votes have been read.
  block.barrier();
}
