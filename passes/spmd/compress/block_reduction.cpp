// Integers of 8 bits in blocks with a scale each. Ranks exchange parts, each adds up one in f32 and sends the sum as
// integers again; two ranks exchange everything. What rounding loses is added on the next step: of a part's sum it is
// kept by the rank that added it up.
#include "passes/spmd/compress/block_layout.h"
#include "passes/spmd/compress/error_feedback.h"
#include "passes/spmd/compress/group_exchange.h"
#include "passes/spmd/compress/local_reductions.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Blocks along the last dimension: integers [..., blocks, block] and their scales [..., blocks].
struct Quantised {
  Value integers, scales;
};

class BlockReduction {
 public:
  BlockReduction(TensorMath& math, CompressedReductionOp op, const LocalisedOp& localised, unsigned input,
                 ReshardEmitter& emitter);

  void send();
  void addUp();
  void finish(CompressedReductionOp op, unsigned input);

 private:
  Quantised quantise(Value value);
  Value restore(const Quantised& quantised);
  Value addOwn(Value loss, Value ownLoss);
  Value toParts(Value value);
  Value fromParts(Value blocks);
  Value fromPart(Value blocks);

  TensorMath& math;
  GroupExchange group;
  Value input, error;
  SmallVector<int64_t> shape, result;
  std::optional<int64_t> scattered;  // the dimension of which a rank needs its part alone
  BlockLayout layout;
  Value loss;                 // in blocks: what this rank has not sent
  Quantised received, total;  // the parts of all ranks; the sums, of all parts where they are gathered
  Value sum;                  // in f32, where nobody sends it
};

}  // namespace

/// Below this, all elements of a block are sent as zeros, and kept.
static constexpr double kLeastMagnitude = 1e-30;
static constexpr double kMostInteger = 127;

static std::optional<int64_t> findScattered(ArrayRef<int64_t> shape, ArrayRef<int64_t> result) {
  for (auto [dim, size] : llvm::enumerate(shape))
    if (size != result[dim]) return dim;
  return std::nullopt;
}

BlockReduction::BlockReduction(TensorMath& math, CompressedReductionOp op, const LocalisedOp& localised, unsigned index,
                               ReshardEmitter& emitter)
    : math(math),
      group(math, op, localised, index, emitter, /*steps=*/2),
      input(op.getInputs()[index]),
      error(op.getState()[index]),
      shape(tensorType(input).getShape()),
      result(localised.localResults[index].getShape()),
      scattered(findScattered(shape, result)) {
  int64_t elements = tensorType(input).getNumElements();
  bool isTakenByAll = areSumsTakenByAll(group.getSize(), scattered.has_value());
  layout = BlockLayout::get(elements, isTakenByAll ? 1 : group.getSize(), op.getSizes()[index]);
}

/// From the local shape to [parts, blocks, block].
Value BlockReduction::toParts(Value value) {
  if (scattered) {
    int64_t before = 1, behind = 1;
    for (int64_t size : ArrayRef(shape).take_front(*scattered)) before *= size;
    for (int64_t size : ArrayRef(shape).drop_front(*scattered)) behind *= size;
    value = math.reshape(value, {before, layout.parts, behind / layout.parts});
    if (before != 1) value = math.transpose(value, {1, 0, 2});
  } else {
    value = math.reshape(value, {tensorType(value).getNumElements()});
    value = math.resize(value, 0, layout.parts * layout.part);
  }
  value = math.resize(math.reshape(value, {layout.parts, layout.part}), 1, layout.getPadded());
  return math.reshape(value, {layout.parts, layout.blocks, layout.block});
}

Value BlockReduction::fromParts(Value blocks) {
  Value value = math.resize(math.reshape(blocks, {layout.parts, layout.getPadded()}), 1, layout.part);
  if (scattered) {
    int64_t before = 1;
    for (int64_t size : ArrayRef(shape).take_front(*scattered)) before *= size;
    value = math.reshape(value, {layout.parts, before, layout.part / before});
    if (before != 1) value = math.transpose(value, {1, 0, 2});
    return math.reshape(value, shape);
  }
  value = math.reshape(value, {layout.parts * layout.part});
  return math.reshape(math.resize(value, 0, tensorType(input).getNumElements()), shape);
}

/// From [blocks, block] to the shape of this rank's part.
Value BlockReduction::fromPart(Value blocks) {
  return math.reshape(math.resize(math.reshape(blocks, {layout.getPadded()}), 0, layout.part), result);
}

Quantised BlockReduction::quantise(Value value) {
  ArrayRef<int64_t> whole = tensorType(value).getShape();
  int64_t last = whole.size() - 1;
  Value largest = math.reduce(math.absolute(value), ReduceKind::Max, {last});
  // NaN counts as large, so that it stays one.
  Value isZero = math.isLess(largest, math.splat(kLeastMagnitude, largest));
  Value most = math.splat(kMostInteger, largest);
  Value factor = math.select(isZero, math.splat(0, largest), math.divide(most, largest));
  Value scaled = math.multiply(value, math.repeat(factor, whole[last]));
  return {math.toInt8(scaled), math.multiply(largest, math.splat(1 / kMostInteger, largest))};
}

Value BlockReduction::restore(const Quantised& quantised) {
  Value value = math.toFloat(quantised.integers);
  return math.multiply(value, math.repeat(quantised.scales, tensorType(value).getShape().back()));
}

void BlockReduction::send() {
  Value parts = toParts(addError(math, input, error));
  Quantised sent = quantise(parts);
  loss = keepFinite(math, math.subtract(parts, restore(sent)));
  if (layout.parts == 1)
    received = {group.gather(sent.integers), group.gather(sent.scales)};
  else
    received = {group.exchangeRows(sent.integers), group.exchangeRows(sent.scales)};
}

void BlockReduction::addUp() {
  sum = math.reduce(restore(received), ReduceKind::Add, {0});
  if (layout.parts == 1 || scattered) return;
  Quantised part = quantise(sum);
  loss = addOwn(loss, keepFinite(math, math.subtract(sum, restore(part))));
  total = {group.gather(part.integers), group.gather(part.scales)};
}

/// `ownLoss` is that of the sum of this rank's part.
Value BlockReduction::addOwn(Value loss, Value ownLoss) {
  ArrayRef<int64_t> whole = tensorType(loss).getShape();
  Value isOwn = math.isEqual(math.iota(whole, 0), math.broadcast(group.getPosition(), {}, whole));
  Value own = math.broadcast(ownLoss, {1, 2}, whole);
  return math.add(loss, math.select(isOwn, own, math.splat(0, own)));
}

void BlockReduction::finish(CompressedReductionOp op, unsigned index) {
  Value value;
  if (scattered)
    value = fromPart(sum);
  else
    value = fromParts(layout.parts == 1 ? sum : restore(total));
  op.getResults()[index].replaceAllUsesWith(math.convert(value, tensorType(input).getElementType()));
  op.getNext()[index].replaceAllUsesWith(math.reshape(fromParts(loss), tensorType(error).getShape()));
}

FailureOr<Value> mlir::sgd::localizeInBlocks(CompressedReductionOp op, const LocalisedOp& localised,
                                             ReshardEmitter& emitter) {
  OpBuilder builder(op);
  TensorMath math(builder, op.getLoc());
  std::vector<BlockReduction> reductions;
  for (unsigned input = 0; input < op.getInputs().size(); ++input)
    reductions.emplace_back(math, op, localised, input, emitter);
  // Each stage for all, so that their collectives are one bucket.
  for (BlockReduction& reduction : reductions) reduction.send();
  for (BlockReduction& reduction : reductions) reduction.addUp();
  for (auto [index, reduction] : llvm::enumerate(reductions)) reduction.finish(op, index);
  op.erase();
  return Value();
}
