// Bodies keep their values when a loop gets further iter_args, so stacks are known by ops of the bodies.
#include "passes/graph/loops/loop_stacks.h"

#include "dialects/sgd/by_rank.h"
#include "dialects/sgd/tensor_layout.h"
#include "dialects/sgd/tensor_type.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/graph/loops/edit_loop.h"
#include "passes/graph/loops/trip_numbers.h"

using namespace mlir;
using namespace mlir::sgd;

// Stacks
// ----------------------------------------------------------------------------------------------------------------

static bool isWholeSlice(ArrayRef<int64_t> sizes, ArrayRef<int64_t> shape, ValueRange starts) {
  if (shape.size() < 2 || sizes.front() != 1 || sizes.drop_front() != shape.drop_front()) return false;
  return llvm::all_of(starts.drop_front(), [](Value start) { return getInteger(start) == 0; });
}

/// The update that makes iter_arg `iterArg` a stack.
static DynamicUpdateSliceOp getStackUpdate(WhileOp loop, unsigned iterArg) {
  auto update = loop.getYielded()[iterArg].getDefiningOp<DynamicUpdateSliceOp>();
  BlockArgument argument = loop.getBody().getArgument(iterArg);
  if (!update || update.getInput() != argument || !argument.hasOneUse() || !update.getResult().hasOneUse()) return {};
  ArrayRef<int64_t> shape = tensorType(update.getResult()).getShape(),
                    slice = tensorType(update.getUpdate()).getShape();
  auto counter = dyn_cast<BlockArgument>(update.getStarts().front());
  if (!isWholeSlice(slice, shape, update.getStarts()) || !counter || counter.getOwner() != argument.getOwner())
    return {};
  std::optional<Counter> progress = getCounter(loop, counter.getArgNumber());
  bool isComplete = loop.getTrips() && static_cast<int64_t>(*loop.getTrips()) == shape.front() && progress &&
                    progress->begin == 0 && progress->step == 1;
  return isComplete ? update : DynamicUpdateSliceOp();
}

/// The slices of an iter_arg that the loop leaves as it is, if it reads nothing else of it.
static SmallVector<DynamicSliceOp, 1> getReads(WhileOp loop, unsigned iterArg) {
  SmallVector<DynamicSliceOp, 1> reads;
  if (!loop.isInvariant(iterArg) || !loop.getResult(iterArg).use_empty()) return {};
  for (Operation* user : loop.getBody().getArgument(iterArg).getUsers()) {
    if (user->hasTrait<OpTrait::IsTerminator>()) continue;
    auto slice = dyn_cast<DynamicSliceOp>(user);
    if (!slice || slice->getBlock() != &loop.getBody().front() ||
        !isWholeSlice(slice.getSizes(), tensorType(slice.getInput()).getShape(), slice.getStarts()))
      return {};
    reads.push_back(slice);
  }
  llvm::sort(reads, [](DynamicSliceOp a, DynamicSliceOp b) { return a->isBeforeInBlock(b); });
  return reads;
}

namespace {

/// Whether an index of a loop is inside of a stack in all trips, computed once for each index and size.
class InsideIndices {
 public:
  bool contains(WhileOp loop, Value index, int64_t size) {
    auto [entry, isNew] = known.try_emplace({index, size}, false);
    if (isNew) entry->second = isInside(loop, index, size);
    return entry->second;
  }

 private:
  DenseMap<std::pair<Value, int64_t>, bool> known;
};

}  // namespace

SmallVector<LoopPair, 0> LoopPair::find(func::FuncOp function) {
  SmallVector<LoopPair, 0> pairs;
  InsideIndices inside;
  DenseMap<std::pair<Value, Value>, size_t> numbers;  // of pairs, by counter and index
  for (Block* block : getProgramBlocks(function))
    for (auto producer : block->getOps<WhileOp>()) {
      if (isByRank(producer)) continue;
      for (unsigned iterArg = 0; iterArg < producer.getNumResults(); ++iterArg) {
        DynamicUpdateSliceOp update = getStackUpdate(producer, iterArg);
        Value result = producer.getResult(iterArg);
        if (!update || !result.hasOneUse()) continue;
        OpOperand& use = *result.use_begin();
        auto consumer = dyn_cast<WhileOp>(use.getOwner());
        if (!consumer || consumer->getBlock() != block || isByRank(consumer)) continue;
        LoopStack stack{update, update.getUpdate(), getByteSize(result.getType()),
                        getReads(consumer, use.getOperandNumber())};
        if (stack.reads.empty()) continue;
        Value index = stack.reads.front().getStarts().front(), counter = update.getStarts().front();
        bool isOneSlice =
            llvm::all_of(stack.reads, [&](DynamicSliceOp read) { return read.getStarts().front() == index; });
        if (!isOneSlice || !inside.contains(consumer, index, *producer.getTrips())) continue;
        auto [number, isNew] = numbers.try_emplace({counter, index}, pairs.size());
        if (isNew) {
          LoopPair& pair = pairs.emplace_back();
          pair.counter = counter, pair.index = index, pair.trips = *producer.getTrips();
        }
        pairs[number->second].add(std::move(stack));
      }
    }
  return pairs;
}

WhileOp LoopPair::getProducer() const { return cast<WhileOp>(stacks.front().update->getParentOp()); }
WhileOp LoopPair::getConsumer() const {
  Value read = index;
  return cast<WhileOp>(read.getParentRegion()->getParentOp());
}

Value LoopPair::getElement(unsigned stack) const { return dropLeadingDim(stacks[stack].slice); }

ArrayRef<unsigned> LoopPair::getHolders(Value value) const {
  auto known = holders.find(value);
  return known == holders.end() ? ArrayRef<unsigned>() : ArrayRef<unsigned>(known->second);
}

SmallVector<Value> LoopPair::findReads(Value value) const {
  SmallVector<Value> found;
  for (unsigned stack : getHolders(value))
    for (DynamicSliceOp read : stacks[stack].reads) {
      if (read.getType() == value.getType()) found.push_back(read);
      for (Operation* user : read->getUsers())
        if (user->getNumResults() == 1 && user->getResult(0).getType() == value.getType() &&
            dropLeadingDim(user->getResult(0)) == read.getResult())
          found.push_back(user->getResult(0));
    }
  return found;
}

void LoopPair::add(LoopStack stack) {
  unsigned number = stacks.size();
  stacks.push_back(std::move(stack));
  holders[stacks.back().slice].push_back(number);
  if (Value element = getElement(number); element && element != stacks.back().slice) holders[element].push_back(number);
}

// Rewriting
// -------------------------------------------------------------------------------------------------------------

Value LoopPair::addStack(Value carried) {
  return mlir::sgd::addStack(getProducer(), carried, counter, trips).getResults().back();
}

void LoopPair::setToIndex(OpBuilder& builder) const {
  if (Operation* op = index.getDefiningOp())
    builder.setInsertionPointAfter(op);
  else
    builder.setInsertionPointToStart(&getConsumer().getBody().front());
}

Value LoopPair::fetch(Value value) {
  Value stack = addStack(value);
  WhileOp consumer = getConsumer();
  Value argument = getInBody(consumer, stack);
  OpBuilder builder(consumer.getContext());
  setToIndex(builder);
  Value slice = readRow(builder, argument, index);
  return ReshapeOp::create(builder, value.getLoc(), tensorType(value), slice);
}
