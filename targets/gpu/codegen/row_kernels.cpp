// Sorts merge runs that double until there is one: each thread finds, by bisection of the neighbouring run, where its
// elements go. The largest elements are found one after another, each by all threads together.
#include "targets/gpu/codegen/row_kernels.h"

#include "targets/gpu/codegen/block_builder.h"
#include "targets/gpu/codegen/entry_point.h"
#include "targets/gpu/codegen/schedule.h"
#include "targets/kernels/element_order.h"
#include "targets/kernels/kernel_work.h"
#include "targets/kernels/row_ops.h"
#include "targets/kernels/scalar_loops.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::gpu;
using LValue = llvm::Value;

namespace {

/// What both kinds share: the function, its buffers, elements in them, the block's row.
class RowEmitter {
 public:
  RowEmitter(llvm::Module& module, Operation* op, const KernelRequest& request)
      : op(op), b(module.getContext()), block(b), loops(b), length(rowLength(op)), threads(rowKernelThreads(op)) {
    entry = createEntryPoint(module, b, request, 0, threads);
    thread = b.CreateZExt(block.thread(), b.getInt64Ty());
    row = b.CreateZExt(block.block(), b.getInt64Ty());
    for (Value operand : op->getOperands())
      inputs.push_back(entry.operands[cast<BlockArgument>(operand).getArgNumber()]);
  }
  virtual ~RowEmitter() = default;

  LogicalResult run() {
    if (numRows(op) > 0 && length > 0) emitRow();
    b.CreateRetVoid();
    return success(!hasFailed);
  }

 protected:
  virtual void emitRow() = 0;

  VectorBuilder scalars() { return VectorBuilder(b, 1); }
  LValue* elementAt(LValue* base, Type type, LValue* index) {
    return b.CreateInBoundsGEP(scalars().memoryType(type), base, index);
  }
  /// An element as it lies in memory.
  LValue* load(LValue* base, Type type, LValue* index) {
    return b.CreateLoad(scalars().memoryType(type), elementAt(base, type, index));
  }
  void store(LValue* value, LValue* base, Type type, LValue* index) {
    b.CreateStore(value, elementAt(base, type, index));
  }
  LValue* number(int64_t value) { return b.getInt64(value); }
  /// `body` for each element of the row, dealt out to the threads one by one.
  void forEachElement(llvm::function_ref<void(LValue*)> body) {
    block.count(thread, number(length), number(threads), body);
  }

  Operation* op;
  llvm::IRBuilder<> b;
  BlockBuilder block;
  ScalarLoops loops;
  int64_t length;
  unsigned threads;
  EntryPoint entry;
  LValue *thread = nullptr, *row = nullptr;  // i64
  SmallVector<LValue*> inputs;               // by operand of the op
  bool hasFailed = false;
};

// Sorts
// -------------------------------------------------------------------------------------------------------------

class SortEmitter : public RowEmitter {
 public:
  SortEmitter(llvm::Module& module, SortRowsOp sort, const KernelRequest& request)
      : RowEmitter(module, sort, request), comparator(sort.getComparator().front()) {
    for (Value input : sort.getInputs()) types.push_back(tensorType(input).getElementType());
  }

 private:
  using Buffers = SmallVector<LValue*>;
  using Tuple = SmallVector<LValue*>;

  void emitRow() override;
  void mergeRuns(const Buffers& from, const Buffers& to, LValue* run);
  LValue* countBefore(const Buffers& from, const Tuple& tuple, LValue* isLeft, LValue* low, LValue* high);
  Tuple loadTuple(const Buffers& from, LValue* at) {
    Tuple tuple;
    for (auto [buffer, type] : llvm::zip(from, types)) tuple.push_back(load(buffer, type, at));
    return tuple;
  }
  void storeTuple(const Tuple& tuple, const Buffers& to, LValue* at) {
    for (auto [value, buffer, type] : llvm::zip(tuple, to, types)) store(value, buffer, type, at);
  }

  Block& comparator;
  SmallVector<Type> types;
};

/// How many elements of the ordered [low, high) go before `tuple`: those that come first, and of equal ones those of
/// the left run.
LValue* SortEmitter::countBefore(const Buffers& from, const Tuple& tuple, LValue* isLeft, LValue* low, LValue* high) {
  llvm::AllocaInst *begin = loops.variable(low), *end = loops.variable(high);
  loops.repeatWhile([&] { return b.CreateICmpSLT(loops.get(begin), loops.get(end)); },
                    [&] {
                      LValue* middle = b.CreateLShr(b.CreateAdd(loops.get(begin), loops.get(end)), 1);
                      Tuple left, right;
                      for (auto [mine, other] : llvm::zip(tuple, loadTuple(from, middle))) {
                        left.push_back(b.CreateSelect(isLeft, other, mine));
                        right.push_back(b.CreateSelect(isLeft, mine, other));
                      }
                      LValue* first = emitComesFirst(scalars(), comparator, left, right);
                      if (!first) {
                        hasFailed = true;
                        first = b.getFalse();
                      }
                      LValue* goesBefore = b.CreateXor(first, b.CreateNot(isLeft));
                      LValue* after = b.CreateAdd(middle, number(1));
                      loops.set(begin, b.CreateSelect(goesBefore, after, loops.get(begin)));
                      loops.set(end, b.CreateSelect(goesBefore, loops.get(end), middle));
                    });
  return b.CreateSub(loops.get(begin), low);
}

/// Every second run of `run` (a power of two) elements is merged with the one before it.
void SortEmitter::mergeRuns(const Buffers& from, const Buffers& to, LValue* run) {
  forEachElement([&](LValue* at) {
    LValue* twice = b.CreateShl(run, 1);
    LValue* base = b.CreateAnd(at, b.CreateNeg(twice));
    LValue* middle = loops.smaller(b.CreateAdd(base, run), number(length));
    LValue* end = loops.smaller(b.CreateAdd(base, twice), number(length));
    LValue* isLeft = b.CreateICmpSLT(at, middle);
    LValue *low = b.CreateSelect(isLeft, middle, base), *high = b.CreateSelect(isLeft, end, middle);
    Tuple tuple = loadTuple(from, at);
    LValue* before = countBefore(from, tuple, isLeft, low, high);
    LValue* own = b.CreateSub(at, b.CreateSelect(isLeft, base, middle));
    storeTuple(tuple, to, b.CreateAdd(base, b.CreateAdd(own, before)));
  });
}

void SortEmitter::emitRow() {
  LValue* first = b.CreateMul(row, number(length));
  auto rowOf = [&](ArrayRef<LValue*> buffers) {
    Buffers rows;
    for (auto [buffer, type] : llvm::zip(buffers, types)) rows.push_back(elementAt(buffer, type, first));
    return rows;
  };
  Buffers source = rowOf(inputs), sorted = rowOf(ArrayRef(entry.results).take_front(types.size())),
          working = rowOf(ArrayRef(entry.results).drop_front(types.size()));
  // Such that the last merge writes the results.
  bool isEven = llvm::Log2_64_Ceil(length) % 2 == 0;
  forEachElement([&](LValue* at) { storeTuple(loadTuple(source, at), isEven ? sorted : working, at); });
  SmallVector<llvm::AllocaInst*> from, to;
  for (LValue* buffer : isEven ? sorted : working) from.push_back(loops.variable(buffer));
  for (LValue* buffer : isEven ? working : sorted) to.push_back(loops.variable(buffer));
  llvm::AllocaInst* run = loops.variable(number(1));
  loops.repeatWhile([&] { return b.CreateICmpSLT(loops.get(run), number(length)); },
                    [&] {
                      block.barrier();
                      Buffers reads, writes;
                      for (llvm::AllocaInst* slot : from) reads.push_back(loops.get(slot));
                      for (llvm::AllocaInst* slot : to) writes.push_back(loops.get(slot));
                      mergeRuns(reads, writes, loops.get(run));
                      for (auto [slot, buffer] : llvm::zip(from, writes)) loops.set(slot, buffer);
                      for (auto [slot, buffer] : llvm::zip(to, reads)) loops.set(slot, buffer);
                      loops.set(run, b.CreateShl(loops.get(run), 1));
                    });
}

// The largest elements
// ----------------------------------------------------------------------------------------------

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
  Entry findBest(LValue* source, LValue* round, const Entry& last);
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

/// This thread's best element of those that `last` precedes; of all in round 0.
TopKEmitter::Entry TopKEmitter::findBest(LValue* source, LValue* round, const Entry& last) {
  llvm::Type* keyType = last.key->getType();
  llvm::AllocaInst *key = loops.variable(llvm::ConstantInt::get(keyType, 0)),
                   *place = loops.variable(b.getInt32(length));
  LValue* isFirstRound = b.CreateICmpEQ(round, number(0));
  forEachElement([&](LValue* at) {
    Entry candidate{emitOrderKey(scalars(), element, load(source, element, at)), b.CreateTrunc(at, b.getInt32Ty())};
    LValue* isLeft = b.CreateOr(isFirstRound, precedes(last, candidate));
    candidate.place = b.CreateSelect(isLeft, candidate.place, b.getInt32(length));
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
  LValue* first = b.CreateMul(row, number(k));
  LValue *values = elementAt(entry.results[0], element, first),
         *positions = elementAt(entry.results[1], position, first);
  llvm::Type* keyType = b.getIntNTy(scalars().memoryType(element)->getScalarSizeInBits());
  StringRef symbol = entry.function->getName();
  llvm::GlobalVariable *keys = block.sharedArray(keyType, threads / kWarp, symbol + "_keys"),
                       *places = block.sharedArray(b.getInt32Ty(), threads / kWarp, symbol + "_places");
  llvm::AllocaInst *lastKey = loops.variable(llvm::ConstantInt::get(keyType, 0)),
                   *lastPlace = loops.variable(b.getInt32(0));
  loops.count(number(0), number(k), 1, [&](LValue* round) {
    Entry best = joinWarps(findBest(source, round, {loops.get(lastKey), loops.get(lastPlace)}), keys, places);
    block.runIf(b.CreateICmpEQ(thread, number(0)), [&] {
      LValue* place = b.CreateZExt(best.place, b.getInt64Ty());
      store(load(source, element, place), values, element, round);
      store(b.CreateZExtOrTrunc(best.place, scalars().memoryType(position)), positions, position, round);
    });
    loops.set(lastKey, best.key), loops.set(lastPlace, best.place);
  });
}

}  // namespace

unsigned mlir::sgd::gpu::rowKernelThreads(Operation* rowOp) {
  int64_t wanted = llvm::PowerOf2Ceil(std::max<int64_t>(1, rowLength(rowOp) / 2));
  return std::clamp<int64_t>(wanted, kWarp, 512);
}

KernelInterface mlir::sgd::gpu::describeRowKernel(ClusterOp cluster, Operation* rowOp) {
  KernelInterface kernel;
  for (Value operand : cluster->getOperands()) kernel.bytes += byteSize(operand);
  for (Value result : cluster->getResults()) kernel.bytes += byteSize(result);
  kernel.range = numRows(rowOp);
  int64_t perElement = 2;
  if (auto sort = dyn_cast<SortRowsOp>(rowOp)) {
    auto comparison = static_cast<int64_t>(sort.getComparator().front().getOperations().size());
    int64_t passes = llvm::Log2_64_Ceil(std::max<int64_t>(rowLength(rowOp), 1));
    perElement = passes * passes * comparison / 2 + passes;
  } else {
    perElement = 4 * static_cast<int64_t>(cast<TopKOp>(rowOp).getK());
  }
  kernel.flops = tensorType(rowOp->getOperand(0)).getNumElements() * perElement;
  return kernel;
}

LogicalResult mlir::sgd::gpu::emitRowKernel(llvm::Module& module, Operation* rowOp, const KernelRequest& request) {
  if (auto sort = dyn_cast<SortRowsOp>(rowOp)) return SortEmitter(module, sort, request).run();
  return TopKEmitter(module, cast<TopKOp>(rowOp), request).run();
}
