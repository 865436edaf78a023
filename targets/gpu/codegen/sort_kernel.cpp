// Sorts merge runs that double until there is one: each thread finds, by bisection of the neighbouring run, where its
// elements go.
#include "targets/gpu/codegen/row_emitter.h"
#include "targets/kernels/element_order.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::gpu;
using LValue = llvm::Value;

namespace {

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

}  // namespace

LogicalResult mlir::sgd::gpu::emitSortKernel(llvm::Module& module, SortRowsOp sort, const KernelRequest& request) {
  return SortEmitter(module, sort, request).run();
}
