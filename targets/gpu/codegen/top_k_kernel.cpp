// The largest elements of a row are found one after another: each thread knows the best of its own elements that are
// left, all threads together take the best of these, and whose it was looks for its next one.
#include "targets/gpu/codegen/row_emitter.h"
#include "targets/gpu/codegen/schedule.h"
#include "targets/kernels/element_order.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::gpu;
using LValue = llvm::Value;

namespace {

class TopKEmitter : public RowEmitter {
 public:
  TopKEmitter(llvm::Module& module, TopKOp topK, const KernelRequest& request)
      : RowEmitter(module, topK, request),
        topK(topK),
        element(tensorType(topK.getInput()).getElementType()),
        position(tensorType(topK.getPositions()).getElementType()) {}

 private:
  /// A key and the place (i32) that has it; the place `length` has none.
  struct Entry {
    LValue *key, *place;
  };

  void emitRow() override;
  Entry findBest(LValue* source, const Entry* last);
  Entry joinWarps(Entry best, llvm::GlobalVariable* keys, llvm::GlobalVariable* places);
  LValue* isLarger(LValue* key, LValue* other) {
    return topK.getUnsignedElements() ? b.CreateICmpUGT(key, other) : b.CreateICmpSGT(key, other);
  }
  /// Larger, or as large and earlier.
  LValue* precedes(const Entry& x, const Entry& y) {
    LValue* isEarlier = b.CreateAnd(b.CreateICmpEQ(x.key, y.key), b.CreateICmpULT(x.place, y.place));
    return b.CreateOr(isLarger(x.key, y.key), isEarlier);
  }
  LValue* exists(const Entry& entry) { return b.CreateICmpULT(entry.place, b.getInt32(length)); }
  Entry better(const Entry& x, const Entry& y) {
    LValue* takesX = b.CreateAnd(exists(x), b.CreateOr(b.CreateNot(exists(y)), precedes(x, y)));
    return {b.CreateSelect(takesX, x.key, y.key), b.CreateSelect(takesX, x.place, y.place)};
  }

  TopKOp topK;
  Type element, position;
};

/// This thread's best element of those that `last` (null: all) precedes.
TopKEmitter::Entry TopKEmitter::findBest(LValue* source, const Entry* last) {
  llvm::Type* keyType = b.getIntNTy(scalars().memoryType(element)->getScalarSizeInBits());
  llvm::AllocaInst *key = loops.variable(llvm::ConstantInt::get(keyType, 0)),
                   *place = loops.variable(b.getInt32(length));
  forEachElement([&](LValue* at) {
    Entry candidate{emitOrderKey(scalars(), element, load(source, element, at)), b.CreateTrunc(at, b.getInt32Ty())};
    if (last) candidate.place = b.CreateSelect(precedes(*last, candidate), candidate.place, b.getInt32(length));
    Entry best = better(candidate, {loops.get(key), loops.get(place)});
    loops.set(key, best.key), loops.set(place, best.place);
  });
  return {loops.get(key), loops.get(place)};
}

/// The best entry of all threads, in all of them.
TopKEmitter::Entry TopKEmitter::joinWarps(Entry best, llvm::GlobalVariable* keys, llvm::GlobalVariable* places) {
  for (unsigned distance = 1; distance < kWarp; distance *= 2)
    best = better(best, {block.exchange(best.key, distance), block.exchange(best.place, distance)});
  if (threads == kWarp) return best;
  LValue* warp = b.CreateUDiv(block.thread(), b.getInt32(kWarp));
  // The round before has been read.
  block.barrier();
  block.runIf(b.CreateICmpEQ(b.CreateURem(block.thread(), b.getInt32(kWarp)), b.getInt32(0)), [&] {
    b.CreateStore(best.key, block.at(keys, warp));
    b.CreateStore(best.place, block.at(places, warp));
  });
  block.barrier();
  auto get = [&](unsigned index) {
    return Entry{b.CreateLoad(best.key->getType(), block.at(keys, b.getInt32(index))),
                 b.CreateLoad(b.getInt32Ty(), block.at(places, b.getInt32(index)))};
  };
  Entry result = get(0);
  for (unsigned index = 1; index < threads / kWarp; ++index) result = better(result, get(index));
  return result;
}

void TopKEmitter::emitRow() {
  auto k = static_cast<int64_t>(topK.getK());
  if (k == 0) return;
  LValue* source = elementAt(inputs[0], element, b.CreateMul(row, number(length)));
  LValue* begin = b.CreateMul(row, number(k));
  LValue *values = elementAt(entry.results[0], element, begin),
         *positions = elementAt(entry.results[1], position, begin);
  llvm::Type* keyType = b.getIntNTy(scalars().memoryType(element)->getScalarSizeInBits());
  StringRef symbol = entry.function->getName();
  llvm::GlobalVariable *keys = block.sharedArray(keyType, threads / kWarp, symbol + "_keys"),
                       *places = block.sharedArray(b.getInt32Ty(), threads / kWarp, symbol + "_places");
  Entry first = findBest(source, nullptr);
  llvm::AllocaInst *ownKey = loops.variable(llvm::ConstantInt::get(keyType, 0)),
                   *ownPlace = loops.variable(b.getInt32(0));
  auto setOwn = [&](const Entry& own) { loops.set(ownKey, own.key), loops.set(ownPlace, own.place); };
  setOwn(first);
  loops.count(number(0), number(k), 1, [&](LValue* round) {
    Entry best = joinWarps({loops.get(ownKey), loops.get(ownPlace)}, keys, places);
    block.runIf(b.CreateICmpEQ(thread, number(0)), [&] {
      LValue* place = b.CreateZExt(best.place, b.getInt64Ty());
      store(load(source, element, place), values, element, round);
      store(b.CreateZExtOrTrunc(best.place, scalars().memoryType(position)), positions, position, round);
    });
    LValue* wasOwn = b.CreateICmpEQ(loops.get(ownPlace), best.place);
    block.runIf(b.CreateAnd(wasOwn, exists(best)), [&] { setOwn(findBest(source, &best)); });
  });
}

}  // namespace

LogicalResult mlir::sgd::gpu::emitTopKKernel(llvm::Module& module, TopKOp topK, const KernelRequest& request) {
  return TopKEmitter(module, topK, request).run();
}
