// Lowers rng_bit_generator to integer arithmetic on each element's position, with the bits that XLA gives: threefry2x32
// and philox4x32 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011). An element depends on its
// position and the state alone, so each rank computes its own.
#include <array>

#include "dialects/sgd/tensor_layout.h"
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/op_lowering.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// 32-bit words of one shape, least significant first.
using Words = SmallVector<Value, 4>;

/// Arithmetic on 32-bit words of one shape.
class WordBuilder {
 public:
  WordBuilder(OpLowering& l, ArrayRef<int64_t> shape)
      : l(l), type(RankedTensorType::get(shape, l.builder.getI32Type())) {}

  Value constant(uint32_t value) { return l.splat(type, APInt(32, value)); }
  Value add(Value x, Value y) { return l.create<arith::AddIOp>(x, y); }
  Value exclusiveOr(Value x, Value y) { return l.create<arith::XOrIOp>(x, y); }
  Value rotate(Value x, unsigned distance) {
    Value high = l.create<ShLIOp>(x, constant(distance));
    return l.create<arith::OrIOp>(high, l.create<ShRUIOp>(x, constant(32 - distance)));
  }
  /// x where `bit` of `number` is set, else y.
  Value chooseByBit(Value number, unsigned bit, Value x, Value y) {
    Value masked = l.create<arith::AndIOp>(number, constant(uint32_t{1} << bit));
    return l.create<arith::SelectOp>(l.create<arith::CmpIOp>(arith::CmpIPredicate::ne, masked, constant(0)), x, y);
  }
  /// High and low word of the product with a constant.
  std::pair<Value, Value> multiply(Value x, uint32_t factor) {
    RankedTensorType wide = type.clone(l.builder.getI64Type());
    Value product = l.create<arith::MulIOp>(l.create<arith::ExtUIOp>(wide, x), l.splat(wide, APInt(64, factor)));
    Value high = l.create<ShRUIOp>(product, l.splat(wide, APInt(64, 32)));
    return {l.create<arith::TruncIOp>(type, high), l.create<arith::TruncIOp>(type, product)};
  }
  /// Words of a number, plus `amount`, which carries upwards.
  Words addTo(const Words& number, Value amount) {
    Words sum;
    for (Value word : number) {
      sum.push_back(add(word, amount));
      Value carries = l.create<arith::CmpIOp>(arith::CmpIPredicate::ult, sum.back(), word);
      amount = l.create<arith::ExtUIOp>(type, carries);
    }
    return sum;
  }
  /// Repeats a scalar word.
  Value repeat(Value scalar) { return l.broadcastScalar(scalar, type); }
  /// Sum of position * stride over the dimensions.
  Value position(ArrayRef<int64_t> strides) {
    Value sum = constant(0);
    for (auto [dim, stride] : llvm::enumerate(strides)) {
      if (type.getDimSize(dim) < 2) continue;
      Value index = l.create<IotaOp>(type, dim);
      sum = add(sum, l.create<arith::MulIOp>(index, constant(static_cast<uint32_t>(stride))));
    }
    return sum;
  }

  OpLowering& l;
  RankedTensorType type;
};

/// Twenty rounds.
std::array<Value, 2> threefry(WordBuilder& b, std::array<Value, 2> x, std::array<Value, 2> key) {
  constexpr unsigned kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  constexpr uint32_t kParity = 0x1BD11BDA;
  Value keys[3] = {key[0], key[1], b.exclusiveOr(b.constant(kParity), b.exclusiveOr(key[0], key[1]))};
  x = {b.add(x[0], keys[0]), b.add(x[1], keys[1])};
  for (unsigned group = 0; group < 5; ++group) {
    for (unsigned rotation : kRotations[group % 2]) {
      x[0] = b.add(x[0], x[1]);
      x[1] = b.exclusiveOr(x[0], b.rotate(x[1], rotation));
    }
    x[0] = b.add(x[0], keys[(group + 1) % 3]);
    x[1] = b.add(b.add(x[1], keys[(group + 2) % 3]), b.constant(group + 1));
  }
  return x;
}

/// Ten rounds.
Words philox(WordBuilder& b, Words x, std::array<Value, 2> key) {
  for (unsigned round = 0; round < 10; ++round) {
    auto [high0, low0] = b.multiply(x[0], 0xD2511F53);
    auto [high1, low1] = b.multiply(x[2], 0xCD9E8D57);
    x = {b.exclusiveOr(b.exclusiveOr(high1, x[1]), key[0]), low1, b.exclusiveOr(b.exclusiveOr(high0, x[3]), key[1]),
         low0};
    key = {b.add(key[0], b.constant(0x9E3779B9)), b.add(key[1], b.constant(0xBB67AE85))};
  }
  return x;
}

class BitGenerator {
 public:
  explicit BitGenerator(OpLowering& l)
      : l(l), type(l.getResultType(1)), words(l, type.getShape()), stateType(l.getOperandType()) {}

  void threeFry();
  void philox();

 private:
  bool isWide() const { return type.getElementTypeBitWidth() == 64; }

  /// The words of entry `index` of the state, repeated for each element.
  Words stateWords(int64_t index) {
    Value entry = l.create<ReshapeOp>(scalar(64), l.takeEvery(l.operands[0], 0, index, 1, 1));
    Value high = l.create<ShRUIOp>(entry, l.splat(scalar(64), APInt(64, 32)));
    return {words.repeat(l.create<arith::TruncIOp>(scalar(32), entry)),
            words.repeat(l.create<arith::TruncIOp>(scalar(32), high))};
  }
  RankedTensorType scalar(unsigned width) { return RankedTensorType::get({}, l.builder.getIntegerType(width)); }

  /// The state with `count` added to the number in its entries from `first` on, least significant first.
  void finishState(int64_t first, uint64_t count);
  /// Results, from the low and, for elements of 64 bits, the high word.
  void finishBits(Value low, Value high);

  OpLowering& l;
  RankedTensorType type;
  WordBuilder words;
  RankedTensorType stateType;
};

void BitGenerator::finishState(int64_t first, uint64_t count) {
  RankedTensorType one = stateType.clone(ArrayRef<int64_t>{1});
  SmallVector<Value> entries;
  Value amount = l.splat(one, APInt(64, count));
  for (int64_t entry = 0; entry < stateType.getDimSize(0); ++entry) {
    Value old = l.takeEvery(l.operands[0], 0, entry, 1, 1);
    entries.push_back(entry < first ? old : l.create<arith::AddIOp>(old, amount));
    if (entry < first) continue;
    Value carries = l.create<arith::CmpIOp>(arith::CmpIPredicate::ult, entries.back(), old);
    amount = l.create<arith::ExtUIOp>(one, carries);
  }
  l.results.push_back(l.create<ConcatenateOp>(stateType, entries, 0));
}

void BitGenerator::finishBits(Value low, Value high) {
  if (!isWide()) {
    bool isWord = type.getElementTypeBitWidth() == 32;
    l.results.push_back(isWord ? low : l.create<arith::TruncIOp>(type, low));
    return;
  }
  Value upper = l.create<ShLIOp>(l.create<arith::ExtUIOp>(type, high), l.splat(type, APInt(64, 32)));
  l.results.push_back(l.create<arith::OrIOp>(l.create<arith::ExtUIOp>(type, low), upper));
}

/// Elements of 64 bits use both words of their counter's block. Others use one: neighbours along the first dimension
/// of even size, or else along the longest, share a block.
void BitGenerator::threeFry() {
  SmallVector<int64_t> blocks(type.getShape());
  int64_t split = -1;
  if (!isWide()) {
    auto even = llvm::find_if(blocks, [](int64_t size) { return size % 2 == 0; });
    if (even == blocks.end()) even = llvm::max_element(blocks);
    if (even != blocks.end()) {
      split = even - blocks.begin();
      *even = llvm::divideCeil(*even, 2);
    }
  }
  SmallVector<int64_t> strides = getRowMajorStrides(blocks);
  Value position, along;
  if (split < 0) {
    position = words.position(strides);
  } else {
    int64_t stride = std::exchange(strides[split], 0);
    along = l.create<IotaOp>(words.type, split);
    Value half = l.create<ShRUIOp>(along, words.constant(1));
    Value own = l.create<arith::MulIOp>(half, words.constant(static_cast<uint32_t>(stride)));
    position = words.add(words.position(strides), own);
  }
  Words key = stateWords(0), counter = words.addTo(stateWords(1), position);
  std::array<Value, 2> bits = threefry(words, {counter[0], counter[1]}, {key[0], key[1]});
  uint64_t count = 1;
  for (int64_t size : blocks) count *= size;
  finishState(1, count);
  finishBits(along ? words.chooseByBit(along, 0, bits[1], bits[0]) : bits[0], bits[1]);
}

/// Elements in row-major order use the words of consecutive counters' blocks in turns.
void BitGenerator::philox() {
  unsigned perElement = isWide() ? 2 : 1;
  Value position = words.position(getRowMajorStrides(type.getShape()));
  Value block = l.create<ShRUIOp>(position, words.constant(isWide() ? 1 : 2));
  // Of a state of two entries the key serves as the upper half of the counter too.
  bool hasOwnCounter = stateType.getDimSize(0) == 3;
  Words key = stateWords(0), counter = stateWords(1);
  llvm::append_range(counter, hasOwnCounter ? stateWords(2) : key);
  Words bits = ::philox(words, words.addTo(counter, block), {key[0], key[1]});
  finishState(1, llvm::divideCeil(type.getNumElements() * perElement, 4));
  if (isWide()) {
    finishBits(words.chooseByBit(position, 0, bits[2], bits[0]), words.chooseByBit(position, 0, bits[3], bits[1]));
    return;
  }
  Value first = words.chooseByBit(position, 0, bits[1], bits[0]);
  finishBits(words.chooseByBit(position, 1, words.chooseByBit(position, 0, bits[3], bits[2]), first), Value());
}

LogicalResult lowerRngBitGenerator(OpLowering& l) {
  auto op = cast<stablehlo::RngBitGeneratorOp>(l.op);
  RankedTensorType state = l.getOperandType(), type = l.getResultType(1);
  bool isThreeFry = op.getRngAlgorithm() == stablehlo::RngAlgorithm::THREE_FRY;
  bool fits = state.getRank() == 1 && state.getElementType().isInteger(64) && l.getResultType(0) == state &&
              (state.getDimSize(0) == 2 || (state.getDimSize(0) == 3 && !isThreeFry));
  if (!fits)
    return l.error() << "needs a state of " << (isThreeFry ? "two" : "two or three") << " ui64, has " << state
                     << "; use the key types of jax.random";
  if (!isa<IntegerType>(type.getElementType()) || type.getElementType().isInteger(1))
    return l.error() << "gives " << type.getElementType() << ", supported are integers of 8 to 64 bits";
  if (type.getNumElements() >= int64_t{1} << 32)
    return l.error() << "gives " << type.getNumElements() << " elements at once, supported are less than 2^32";
  if (isThreeFry)
    BitGenerator(l).threeFry();
  else  // Also what XLA's CPU and GPU choose for the default.
    BitGenerator(l).philox();
  return success();
}

}  // namespace

LogicalResult mlir::sgd::lowerThreeFryCall(OpLowering& l) {
  RankedTensorType type = l.operands.size() == 4 ? l.getOperandType() : RankedTensorType();
  bool fits = type && type.getElementType().isInteger(32) && l.op->getNumResults() == 2 &&
              llvm::all_of(l.operands, [&](Value operand) { return operand.getType() == type; }) &&
              l.getResultType(0) == type && l.getResultType(1) == type;
  if (!fits)
    return l.error() << "@cu_threefry2x32 needs four operands of 32-bit integers and two results, all of one shape";
  WordBuilder words(l, type.getShape());
  std::array<Value, 2> bits = threefry(words, {l.operands[2], l.operands[3]}, {l.operands[0], l.operands[1]});
  l.results = {bits[0], bits[1]};
  return success();
}

void mlir::sgd::addRandomLowerings(LoweringTable& table) {
  table["stablehlo.rng_bit_generator"] = lowerRngBitGenerator;
}
