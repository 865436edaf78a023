// Sorts merge runs that grow from a few elements to the row, between the results and the working memory; the largest
// elements are kept in a heap in the results while the row is read.
#include "targets/cpu/codegen/row_kernels.h"

#include "dialects/fusion/fusion_dialect.h"
#include "targets/kernels/element_order.h"
#include "targets/kernels/in_place.h"
#include "targets/kernels/row_ops.h"
#include "targets/kernels/scalar_loops.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::cpu;
using LValue = llvm::Value;

/// Elements that are ordered by insertion before runs are merged.
static constexpr int64_t kRun = 8;

/// Merges of runs until there is one.
static unsigned numPasses(int64_t length) {
  unsigned passes = 0;
  for (int64_t run = kRun; run < length; run *= 2) ++passes;
  return passes;
}

namespace {

/// Shared by both kinds of kernels: the function, its buffers, elements in them.
class RowEmitter {
 public:
  RowEmitter(llvm::Module& module, fusion::ClusterOp cluster, Operation* op, StringRef symbol);
  virtual ~RowEmitter() = default;

  LogicalResult run() {
    if (numRows(op) > 0 && rowLength(op) > 0)
      loops.count(function->getArg(2), function->getArg(3), 1, [&](LValue* row) { emitRow(row); });
    b.CreateRetVoid();
    return success(!hasFailed);
  }

 protected:
  virtual void emitRow(LValue* row) = 0;

  VectorBuilder scalars() { return VectorBuilder(b, 1); }
  LValue* elementAt(LValue* base, Type type, LValue* index) {
    return b.CreateInBoundsGEP(scalars().memoryType(type), base, index);
  }
  /// An element as stored in memory.
  LValue* load(LValue* base, Type type, LValue* index) {
    return b.CreateLoad(scalars().memoryType(type), elementAt(base, type, index));
  }
  void store(LValue* value, LValue* base, Type type, LValue* index) {
    b.CreateStore(value, elementAt(base, type, index));
  }
  LValue* number(int64_t value) { return b.getInt64(value); }

  Operation* op;
  llvm::IRBuilder<> b;
  ScalarLoops loops;
  llvm::Function* function = nullptr;
  SmallVector<LValue*> inputs, outputs;  // by operand and result of the op
  bool hasFailed = false;
};

RowEmitter::RowEmitter(llvm::Module& module, fusion::ClusterOp cluster, Operation* op, StringRef symbol)
    : op(op), b(module.getContext()), loops(b) {
  auto* type =
      llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy(), b.getInt64Ty(), b.getInt64Ty()}, false);
  function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, symbol, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr("no-builtins");
  b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", function));
  unsigned slot = 0;
  auto next = [&] {
    LValue* where = b.CreateConstInBoundsGEP1_64(b.getPtrTy(), function->getArg(0), slot++);
    return b.CreateLoad(b.getPtrTy(), where);
  };
  SmallVector<LValue*> arguments, results;
  for (unsigned i = 0; i < cluster->getNumOperands(); ++i) arguments.push_back(next());
  for (unsigned i = 0; i < cluster->getNumResults(); ++i) results.push_back(next());
  for (Value operand : op->getOperands()) inputs.push_back(arguments[cast<BlockArgument>(operand).getArgNumber()]);
  // The cluster yields the op's results in order.
  outputs = results;
}

// Sorts
// -------------------------------------------------------------------------------------------------------------

class SortEmitter : public RowEmitter {
 public:
  SortEmitter(llvm::Module& module, fusion::ClusterOp cluster, fusion::SortRowsOp sort, StringRef symbol)
      : RowEmitter(module, cluster, sort, symbol), comparator(sort.getComparator().front()) {
    for (Value input : sort.getInputs()) types.push_back(tensorType(input).getElementType());
  }

 private:
  using Buffers = SmallVector<LValue*>;
  using Tuple = SmallVector<LValue*>;

  void emitRow(LValue* row) override;
  void orderRuns(const Buffers& from, const Buffers& to);
  void insert(const Buffers& from, const Buffers& to, LValue* begin, LValue* at);
  void mergeRuns(const Buffers& from, const Buffers& to, LValue* low, LValue* middle, LValue* high);
  void copy(const Buffers& from, LValue* at, const Buffers& to, LValue* target);
  Tuple loadTuple(const Buffers& from, LValue* at);
  LValue* comesFirst(const Tuple& x, const Tuple& y);

  Block& comparator;
  SmallVector<Type> types;
};

SortEmitter::Tuple SortEmitter::loadTuple(const Buffers& from, LValue* at) {
  Tuple tuple;
  for (auto [buffer, type] : llvm::zip(from, types)) tuple.push_back(load(buffer, type, at));
  return tuple;
}

void SortEmitter::copy(const Buffers& from, LValue* at, const Buffers& to, LValue* target) {
  for (auto [value, buffer, type] : llvm::zip(loadTuple(from, at), to, types)) store(value, buffer, type, target);
}

LValue* SortEmitter::comesFirst(const Tuple& x, const Tuple& y) {
  LValue* result = emitComesFirst(scalars(), comparator, x, y);
  if (result) return result;
  hasFailed = true;
  return b.getFalse();
}

/// Puts element `at` of `from` into the ordered run of `to` that begins at `begin` and ends there.
void SortEmitter::insert(const Buffers& from, const Buffers& to, LValue* begin, LValue* at) {
  Tuple tuple = loadTuple(from, at);
  llvm::AllocaInst* place = loops.variable(at);
  auto previous = [&] { return b.CreateSub(loops.get(place), number(1)); };
  auto movesOn = [&] {
    return loops.both(b.CreateICmpSGT(loops.get(place), begin),
                      [&] { return comesFirst(tuple, loadTuple(to, previous())); });
  };
  loops.repeatWhile(movesOn, [&] {
    copy(to, previous(), to, loops.get(place));
    loops.set(place, previous());
  });
  for (auto [value, buffer, type] : llvm::zip(tuple, to, types)) store(value, buffer, type, loops.get(place));
}

void SortEmitter::orderRuns(const Buffers& from, const Buffers& to) {
  LValue* length = number(rowLength(op));
  loops.count(number(0), length, kRun, [&](LValue* begin) {
    LValue* end = loops.smaller(b.CreateAdd(begin, number(kRun)), length);
    loops.count(begin, end, 1, [&](LValue* at) { insert(from, to, begin, at); });
  });
}

/// [low, middle) and [middle, high) of `from` are ordered; so is [low, high) of `to` then.
void SortEmitter::mergeRuns(const Buffers& from, const Buffers& to, LValue* low, LValue* middle, LValue* high) {
  llvm::AllocaInst *left = loops.variable(low), *right = loops.variable(middle), *target = loops.variable(low);
  auto bothLeft = [&] {
    return b.CreateAnd(b.CreateICmpSLT(loops.get(left), middle), b.CreateICmpSLT(loops.get(right), high));
  };
  loops.repeatWhile(bothLeft, [&] {
    LValue *l = loops.get(left), *r = loops.get(right);
    // Without a branch, which half of the time would be predicted wrong.
    LValue* takesRight = comesFirst(loadTuple(from, r), loadTuple(from, l));
    copy(from, b.CreateSelect(takesRight, r, l), to, loops.get(target));
    LValue* step = b.CreateZExt(takesRight, b.getInt64Ty());
    loops.add(right, step);
    loops.add(left, b.CreateSub(number(1), step));
    loops.add(target, number(1));
  });
  for (auto [rest, end] : {std::make_pair(left, middle), std::make_pair(right, high)})
    loops.repeatWhile([&, rest = rest, end = end] { return b.CreateICmpSLT(loops.get(rest), end); },
                      [&, rest = rest] {
                        copy(from, loops.get(rest), to, loops.get(target));
                        loops.add(rest, number(1));
                        loops.add(target, number(1));
                      });
}

void SortEmitter::emitRow(LValue* row) {
  int64_t length = rowLength(op);
  LValue* first = b.CreateMul(row, number(length));
  auto rowOf = [&](ArrayRef<LValue*> buffers) {
    Buffers rows;
    for (auto [buffer, type] : llvm::zip(buffers, types)) rows.push_back(elementAt(buffer, type, first));
    return rows;
  };
  Buffers source = rowOf(inputs), sorted = rowOf(ArrayRef(outputs).take_front(types.size())),
          working = rowOf(ArrayRef(outputs).drop_front(types.size()));
  bool isEven = numPasses(length) % 2 == 0;
  // Such that the last merge writes the results.
  orderRuns(source, isEven ? sorted : working);
  SmallVector<llvm::AllocaInst*> from, to;
  for (LValue* buffer : isEven ? sorted : working) from.push_back(loops.variable(buffer));
  for (LValue* buffer : isEven ? working : sorted) to.push_back(loops.variable(buffer));
  llvm::AllocaInst* run = loops.variable(number(kRun));
  auto buffersOf = [&](ArrayRef<llvm::AllocaInst*> slots) {
    return llvm::map_to_vector(slots, [&](llvm::AllocaInst* slot) { return loops.get(slot); });
  };
  auto isUnordered = [&] { return b.CreateICmpSLT(loops.get(run), number(length)); };
  loops.repeatWhile(isUnordered, [&] {
    Buffers reads(buffersOf(from)), writes(buffersOf(to));
    LValue* width = loops.get(run);
    llvm::AllocaInst* low = loops.variable(number(0));
    loops.repeatWhile([&] { return b.CreateICmpSLT(loops.get(low), number(length)); },
                      [&] {
                        LValue* begin = loops.get(low);
                        LValue* middle = loops.smaller(b.CreateAdd(begin, width), number(length));
                        LValue* end = loops.smaller(b.CreateAdd(middle, width), number(length));
                        mergeRuns(reads, writes, begin, middle, end);
                        loops.set(low, end);
                      });
    for (auto [slot, buffer] : llvm::zip(from, writes)) loops.set(slot, buffer);
    for (auto [slot, buffer] : llvm::zip(to, reads)) loops.set(slot, buffer);
    loops.set(run, b.CreateAdd(width, width));
  });
}

// The largest elements
// ----------------------------------------------------------------------------------------------

/// A heap of the elements to be kept, the worst one at the top, is in the results; the row's other elements replace
/// it where they are better. In the end it is taken apart, worst first.
class TopKEmitter : public RowEmitter {
 public:
  TopKEmitter(llvm::Module& module, fusion::ClusterOp cluster, TopKOp topK, StringRef symbol)
      : RowEmitter(module, cluster, topK, symbol),
        topK(topK),
        element(tensorType(topK.getInput()).getElementType()),
        position(tensorType(topK.getPositions()).getElementType()) {}

 private:
  /// An element and its position, as stored in memory.
  struct Entry {
    LValue *value, *position;
  };
  struct Heap {
    LValue *values, *positions;
  };

  void emitRow(LValue* row) override;
  LValue* keyOf(LValue* memory);
  LValue* isLarger(LValue* key, LValue* other) {
    return topK.getUnsignedElements() ? b.CreateICmpUGT(key, other) : b.CreateICmpSGT(key, other);
  }
  /// Larger, or as large and earlier.
  LValue* isBetter(const Entry& x, const Entry& y) {
    LValue *xKey = keyOf(x.value), *yKey = keyOf(y.value);
    LValue* isEarlier = b.CreateAnd(b.CreateICmpEQ(xKey, yKey), b.CreateICmpSLT(x.position, y.position));
    return b.CreateOr(isLarger(xKey, yKey), isEarlier);
  }
  Entry get(const Heap& heap, LValue* at) {
    return {load(heap.values, element, at), load(heap.positions, position, at)};
  }
  void set(const Heap& heap, LValue* at, const Entry& entry) {
    store(entry.value, heap.values, element, at);
    store(entry.position, heap.positions, position, at);
  }
  /// Puts `entry` at `top` or below it, in the heap of the first `count` entries, whose place `top` is free.
  void sink(const Heap& heap, const Entry& entry, LValue* top, LValue* count);
  LValue* positionOf(LValue* index) { return b.CreateTrunc(index, scalars().memoryType(position)); }

  TopKOp topK;
  Type element, position;
};

LValue* TopKEmitter::keyOf(LValue* memory) { return emitOrderKey(scalars(), element, memory); }

void TopKEmitter::sink(const Heap& heap, const Entry& entry, LValue* top, LValue* count) {
  llvm::AllocaInst *hole = loops.variable(top), *child = loops.variable(number(0));
  auto movesOn = [&] {
    LValue* left = b.CreateAdd(b.CreateShl(loops.get(hole), 1), number(1));
    return loops.both(b.CreateICmpSLT(left, count), [&] {
      LValue *right = b.CreateAdd(left, number(1)), *last = b.CreateSub(count, number(1));
      LValue* exists = b.CreateICmpSLT(right, count);
      LValue* isWorse = isBetter(get(heap, left), get(heap, loops.smaller(right, last)));
      loops.set(child, b.CreateSelect(b.CreateAnd(exists, isWorse), right, left));
      return isBetter(entry, get(heap, loops.get(child)));
    });
  };
  loops.repeatWhile(movesOn, [&] {
    set(heap, loops.get(hole), get(heap, loops.get(child)));
    loops.set(hole, loops.get(child));
  });
  set(heap, loops.get(hole), entry);
}

void TopKEmitter::emitRow(LValue* row) {
  auto k = static_cast<int64_t>(topK.getK());
  if (k == 0) return;
  LValue* source = elementAt(inputs[0], element, b.CreateMul(row, number(rowLength(op))));
  LValue* first = b.CreateMul(row, number(k));
  Heap heap{elementAt(outputs[0], element, first), elementAt(outputs[1], position, first)};
  loops.count(number(0), number(k), 1,
              [&](LValue* index) { set(heap, index, {load(source, element, index), positionOf(index)}); });
  loops.count(number(0), number(k / 2), 1, [&](LValue* step) {
    LValue* top = b.CreateSub(number(k / 2 - 1), step);
    sink(heap, get(heap, top), top, number(k));
  });
  llvm::AllocaInst* worst = loops.variable(keyOf(load(heap.values, element, number(0))));
  loops.count(number(k), number(rowLength(op)), 1, [&](LValue* index) {
    LValue* value = load(source, element, index);
    // An element equal to the worst one comes after it.
    loops.runIf(isLarger(keyOf(value), loops.get(worst)), [&] {
      sink(heap, {value, positionOf(index)}, number(0), number(k));
      loops.set(worst, keyOf(load(heap.values, element, number(0))));
    });
  });
  loops.count(number(1), number(k), 1, [&](LValue* step) {
    LValue* last = b.CreateSub(number(k), step);
    Entry entry = get(heap, last);
    set(heap, last, get(heap, number(0)));
    sink(heap, entry, number(0), last);
  });
}

}  // namespace

KernelInterface mlir::sgd::cpu::describeRowKernel(fusion::ClusterOp cluster, Operation* rowOp) {
  KernelInterface kernel;
  kernel.range = numRows(rowOp);
  kernel.grain = getGrain(cluster, kernel.range);
  return kernel;
}

LogicalResult mlir::sgd::cpu::emitRowKernel(llvm::Module& module, fusion::ClusterOp cluster, Operation* rowOp,
                                            llvm::StringRef symbol) {
  if (auto sort = dyn_cast<fusion::SortRowsOp>(rowOp)) return SortEmitter(module, cluster, sort, symbol).run();
  return TopKEmitter(module, cluster, cast<TopKOp>(rowOp), symbol).run();
}
