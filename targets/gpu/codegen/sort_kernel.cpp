// Merge sort: each thread finds, by bisection of the neighbouring run, the positions of its elements in the merged run.
// Rows that fit are in shared memory meanwhile, several short ones in one block's; others alternate
// between the results and their working memory.
#include "dialects/fusion/fusion_dialect.h"
#include "targets/gpu/codegen/row_emitter.h"
#include "targets/kernels/element_order.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::gpu;
using LValue = llvm::Value;

namespace {

class SortEmitter : public RowEmitter {
 public:
  SortEmitter(llvm::Module& module, fusion::SortRowsOp sort, const KernelRequest& request)
      : RowEmitter(module, sort, request), comparator(sort.getComparator().front()) {
    for (Value input : sort.getInputs()) types.push_back(tensorType(input).getElementType());
  }

 private:
  using Buffers = SmallVector<LValue*>;
  using Tuple = SmallVector<LValue*>;

  void emitRow() override;
  void sortInSharedMemory();
  void sortInGlobalMemory();
  void mergeUntilSorted(const Buffers& source, const Buffers& other);
  Buffers rowOf(ArrayRef<LValue*> buffers, LValue* first);
  /// `body` for each element of the block's rows.
  void forEachOfBlock(llvm::function_ref<void(LValue*)> body) {
    block.count(thread, numElements, number(threads), body);
  }
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
  LValue* numElements = nullptr;  // i64: of the block's rows
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
  forEachOfBlock([&](LValue* at) {
    LValue* inRow = rowsOfBlock(op) == 1 ? at : b.CreateURem(at, number(length));
    LValue* rowBegin = b.CreateSub(at, inRow);
    LValue* rowEnd = b.CreateAdd(rowBegin, number(length));
    LValue* twice = b.CreateShl(run, 1);
    LValue* base = b.CreateAdd(rowBegin, b.CreateAnd(inRow, b.CreateNeg(twice)));
    LValue* middle = loops.smaller(b.CreateAdd(base, run), rowEnd);
    LValue* end = loops.smaller(b.CreateAdd(base, twice), rowEnd);
    LValue* isLeft = b.CreateICmpSLT(at, middle);
    LValue *low = b.CreateSelect(isLeft, middle, base), *high = b.CreateSelect(isLeft, end, middle);
    Tuple tuple = loadTuple(from, at);
    LValue* before = countBefore(from, tuple, isLeft, low, high);
    LValue* own = b.CreateSub(at, b.CreateSelect(isLeft, base, middle));
    storeTuple(tuple, to, b.CreateAdd(base, b.CreateAdd(own, before)));
  });
}

SortEmitter::Buffers SortEmitter::rowOf(ArrayRef<LValue*> buffers, LValue* first) {
  Buffers rows;
  for (auto [buffer, type] : llvm::zip(buffers, types)) rows.push_back(elementAt(buffer, type, first));
  return rows;
}

/// Merges to and fro; what is sorted then is where log2(length) merges end.
void SortEmitter::mergeUntilSorted(const Buffers& source, const Buffers& other) {
  SmallVector<llvm::AllocaInst*> from, to;
  for (LValue* buffer : source) from.push_back(loops.variable(buffer));
  for (LValue* buffer : other) to.push_back(loops.variable(buffer));
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

void SortEmitter::sortInGlobalMemory() {
  numElements = number(length);
  LValue* first = b.CreateMul(row, number(length));
  Buffers source = rowOf(inputs, first), sorted = rowOf(ArrayRef(entry.results).take_front(types.size()), first),
          working = rowOf(ArrayRef(entry.results).drop_front(types.size()), first);
  // Such that the last merge writes the results.
  bool isEven = llvm::Log2_64_Ceil(length) % 2 == 0;
  forEachOfBlock([&](LValue* at) { storeTuple(loadTuple(source, at), isEven ? sorted : working, at); });
  mergeUntilSorted(isEven ? sorted : working, isEven ? working : sorted);
}

void SortEmitter::sortInSharedMemory() {
  int64_t rows = rowsOfBlock(op), most = rows * length;
  LValue* first = b.CreateMul(row, number(most));
  // The last block may have fewer rows.
  numElements = number(most);
  if (numRows(op) % rows != 0)
    numElements = loops.smaller(numElements, b.CreateSub(number(numRows(op) * length), first));
  Buffers source = rowOf(inputs, first), sorted = rowOf(ArrayRef(entry.results).take_front(types.size()), first);
  Buffers copies[2];
  for (auto [copy, buffers] : llvm::enumerate(copies))
    for (auto [number, type] : llvm::enumerate(types))
      buffers.push_back(
          block.sharedArray(scalars().memoryType(type), most,
                            entry.function->getName() + "_row" + llvm::Twine(number) + "_" + llvm::Twine(copy)));
  forEachOfBlock([&](LValue* at) { storeTuple(loadTuple(source, at), copies[0], at); });
  mergeUntilSorted(copies[0], copies[1]);
  block.barrier();
  const Buffers& last = copies[llvm::Log2_64_Ceil(length) % 2];
  forEachOfBlock([&](LValue* at) { storeTuple(loadTuple(last, at), sorted, at); });
}

void SortEmitter::emitRow() {
  if (sortsInSharedMemory(cast<fusion::SortRowsOp>(op)))
    sortInSharedMemory();
  else
    sortInGlobalMemory();
}

}  // namespace

LogicalResult mlir::sgd::gpu::emitSortKernel(llvm::Module& module, fusion::SortRowsOp sort,
                                             const KernelRequest& request) {
  return SortEmitter(module, sort, request).run();
}
