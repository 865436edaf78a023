// Integer arithmetic on each element's position: threefry2x32 and philox4x32 (Salmon et al., "Parallel random numbers:
// as easy as 1, 2, 3", SC 2011).
#include "passes/graph/functions/random_bits.h"

#include "dialects/sgd/roles.h"
#include "dialects/sgd/tensor_layout.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// 32-bit words of one shape, least significant first.
using Words = SmallVector<Value, 4>;

/// Arithmetic on 32-bit words of one shape.
class WordMath : public TensorMath {
 public:
  WordMath(const TensorMath& math, ArrayRef<int64_t> shape)
      : TensorMath(math), type(RankedTensorType::get(shape, builder.getI32Type())) {}

  using TensorMath::multiply;
  Value constant(uint32_t value) { return splat(type, int64_t{static_cast<int32_t>(value)}); }
  Value exclusiveOr(Value x, Value y) { return create<arith::XOrIOp>(x, y); }
  Value rotate(Value x, unsigned distance) {
    Value high = create<ShLIOp>(x, constant(distance));
    return create<arith::OrIOp>(high, create<ShRUIOp>(x, constant(32 - distance)));
  }
  /// x where `bit` of `number` is set, else y.
  Value chooseByBit(Value number, unsigned bit, Value x, Value y) {
    Value masked = create<arith::AndIOp>(number, constant(uint32_t{1} << bit));
    return select(create<arith::CmpIOp>(arith::CmpIPredicate::ne, masked, constant(0)), x, y);
  }
  /// High and low word of the product with a constant.
  std::pair<Value, Value> multiply(Value x, uint32_t factor) {
    RankedTensorType wide = type.clone(builder.getI64Type());
    Value product = multiply(create<arith::ExtUIOp>(wide, x), splat(wide, int64_t{factor}));
    Value high = create<ShRUIOp>(product, splat(wide, int64_t{32}));
    return {create<arith::TruncIOp>(type, high), create<arith::TruncIOp>(type, product)};
  }
  /// Words of a number, plus `amount`, which carries upwards.
  Words addTo(const Words& number, Value amount) {
    Words sum;
    for (Value word : number) {
      sum.push_back(add(word, amount));
      Value carries = create<arith::CmpIOp>(arith::CmpIPredicate::ult, sum.back(), word);
      amount = create<arith::ExtUIOp>(type, carries);
    }
    return sum;
  }
  /// Repeats a scalar word.
  Value repeat(Value scalar) { return broadcast(scalar, {}, type.getShape()); }
  /// Sum of position * stride over the dimensions.
  Value position(ArrayRef<int64_t> strides) {
    Value sum = constant(0);
    for (auto [dim, stride] : llvm::enumerate(strides)) {
      if (type.getDimSize(dim) < 2) continue;
      Value index = create<IotaOp>(type, dim);
      sum = add(sum, multiply(index, constant(static_cast<uint32_t>(stride))));
    }
    return sum;
  }

  RankedTensorType type;
};

/// Twenty rounds.
std::array<Value, 2> threefry(WordMath& b, std::array<Value, 2> x, std::array<Value, 2> key) {
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
Words philox(WordMath& b, Words x, std::array<Value, 2> key) {
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
  BitGenerator(TensorMath& math, Value state, RankedTensorType type)
      : math(math), state(state), stateType(tensorType(state)), type(type), words(math, type.getShape()) {}

  RandomBits threeFry();
  RandomBits philox();

 private:
  bool isWide() const { return type.getElementTypeBitWidth() == 64; }

  Value getEntry(int64_t index) { return math.slice(state, index, index + 1); }
  /// The words of entry `index` of the state, repeated for each element.
  Words stateWords(int64_t index) {
    Value entry = math.create<ReshapeOp>(scalar(64), getEntry(index));
    Value high = math.create<ShRUIOp>(entry, math.splat(scalar(64), int64_t{32}));
    return {words.repeat(math.create<arith::TruncIOp>(scalar(32), entry)),
            words.repeat(math.create<arith::TruncIOp>(scalar(32), high))};
  }
  RankedTensorType scalar(unsigned width) { return RankedTensorType::get({}, math.getBuilder().getIntegerType(width)); }

  /// The state with `count` added to the number in its entries from `first` on, least significant first.
  Value finishState(int64_t first, uint64_t count);
  /// Results, from the low and, for elements of 64 bits, the high word.
  Value finishBits(Value low, Value high);

  TensorMath& math;
  Value state;
  RankedTensorType stateType, type;
  WordMath words;
};

Value BitGenerator::finishState(int64_t first, uint64_t count) {
  RankedTensorType one = stateType.clone(ArrayRef<int64_t>{1});
  SmallVector<Value> entries;
  Value amount = math.splat(one, static_cast<int64_t>(count));
  for (int64_t entry = 0; entry < stateType.getDimSize(0); ++entry) {
    Value old = getEntry(entry);
    entries.push_back(entry < first ? old : math.add(old, amount));
    if (entry < first) continue;
    Value carries = math.create<arith::CmpIOp>(arith::CmpIPredicate::ult, entries.back(), old);
    amount = math.create<arith::ExtUIOp>(one, carries);
  }
  return math.concatenate(entries, 0);
}

Value BitGenerator::finishBits(Value low, Value high) {
  if (!isWide()) {
    bool isWord = type.getElementTypeBitWidth() == 32;
    return isWord ? low : math.create<arith::TruncIOp>(type, low);
  }
  Value upper = math.create<ShLIOp>(math.create<arith::ExtUIOp>(type, high), math.splat(type, int64_t{32}));
  return math.create<arith::OrIOp>(math.create<arith::ExtUIOp>(type, low), upper);
}

/// Elements of 64 bits use both words of their counter's block. Others use one: neighbours along the first dimension
/// of even size, or else along the longest, share a block.
RandomBits BitGenerator::threeFry() {
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
    along = math.create<IotaOp>(words.type, split);
    Value half = math.create<ShRUIOp>(along, words.constant(1));
    Value own = math.multiply(half, words.constant(static_cast<uint32_t>(stride)));
    position = words.add(words.position(strides), own);
  }
  Words key = stateWords(0), counter = words.addTo(stateWords(1), position);
  std::array<Value, 2> bits = threefry(words, {counter[0], counter[1]}, {key[0], key[1]});
  uint64_t count = 1;
  for (int64_t size : blocks) count *= size;
  Value next = finishState(1, count);
  return {next, finishBits(along ? words.chooseByBit(along, 0, bits[1], bits[0]) : bits[0], bits[1])};
}

/// Elements in row-major order use the words of consecutive counters' blocks in turns.
RandomBits BitGenerator::philox() {
  unsigned perElement = isWide() ? 2 : 1;
  Value position = words.position(getRowMajorStrides(type.getShape()));
  Value block = math.create<ShRUIOp>(position, words.constant(isWide() ? 1 : 2));
  // Of a state of two entries the key serves as the upper half of the counter too.
  bool hasOwnCounter = stateType.getDimSize(0) == 3;
  Words key = stateWords(0), counter = stateWords(1);
  llvm::append_range(counter, hasOwnCounter ? stateWords(2) : key);
  Words bits = ::philox(words, words.addTo(counter, block), {key[0], key[1]});
  Value next = finishState(1, llvm::divideCeil(type.getNumElements() * perElement, 4));
  if (isWide()) {
    Value low = words.chooseByBit(position, 0, bits[2], bits[0]);
    return {next, finishBits(low, words.chooseByBit(position, 0, bits[3], bits[1]))};
  }
  Value first = words.chooseByBit(position, 0, bits[1], bits[0]);
  Value last = words.chooseByBit(position, 0, bits[3], bits[2]);
  return {next, finishBits(words.chooseByBit(position, 1, last, first), Value())};
}

}  // namespace

RandomBits mlir::sgd::writeRandomBits(TensorMath& math, Value state, RankedTensorType type, BitGeneratorKind kind) {
  BitGenerator generator(math, state, type);
  return kind == BitGeneratorKind::ThreeFry ? generator.threeFry() : generator.philox();
}

std::array<Value, 2> mlir::sgd::writeThreefry(TensorMath& math, std::array<Value, 2> counter,
                                              std::array<Value, 2> key) {
  WordMath words(math, tensorType(key[0]).getShape());
  return threefry(words, counter, key);
}

/// The finalizer of MurmurHash3 (Appleby, 2011).
static Value mixBits(WordMath& words, Value x) {
  auto fold = [&](unsigned distance) { x = words.exclusiveOr(x, words.create<ShRUIOp>(x, words.constant(distance))); };
  fold(16);
  x = static_cast<TensorMath&>(words).multiply(x, words.constant(0x85EBCA6B));
  fold(13);
  x = static_cast<TensorMath&>(words).multiply(x, words.constant(0xC2B2AE35));
  fold(16);
  return x;
}

Value mlir::sgd::writeHashedWords(TensorMath& math, Value key, RankedTensorType type) {
  WordMath words(math, type.getShape());
  auto scalar = RankedTensorType::get({}, math.getBuilder().getI32Type());
  Value high = math.create<ShRUIOp>(key, math.splat(tensorType(key), int64_t{32}));
  Value low = words.repeat(math.create<arith::TruncIOp>(scalar, key));
  Value position = words.position(getRowMajorStrides(type.getShape()));
  Value mixed = mixBits(words, words.exclusiveOr(position, low));
  return mixBits(words, words.add(mixed, words.repeat(math.create<arith::TruncIOp>(scalar, high))));
}

Value mlir::sgd::addGenerator(func::FuncOp function) {
  Builder builder(function.getContext());
  unsigned position = function.getNumArguments();
  NamedAttribute attributes[] = {builder.getNamedAttr(kNameAttr, builder.getStringAttr(kGeneratorName)),
                                 builder.getNamedAttr(kRoleAttr, RoleAttr::get(function.getContext(), Role::Generator)),
                                 builder.getNamedAttr(kUnsignedAttr, builder.getUnitAttr())};
  (void)function.insertArgument(position, RankedTensorType::get({2}, builder.getI64Type()),
                                builder.getDictionaryAttr(attributes), function.getLoc());
  return function.getArgument(position);
}
