// Ops that move elements along fixed ways.
#include "tests/fuzz/families.h"

#include <algorithm>

using namespace mlir::sgd::fuzz;

namespace {
std::string arrow(const Value& input, const Type& type) { return " : " + input.type.print() + " -> " + type.print(); }
}  // namespace

void mlir::sgd::fuzz::addBroadcast(Program& program) {
  Choices& choices = program.choices;
  Value input = program.getAny(0, 3);
  int64_t rank = input.type.rank() + static_cast<int64_t>(choices.below(3));
  std::vector<int64_t> dims = choices.subset(rank, input.type.rank());
  if (choices.chance(15)) {
    // Any order is allowed.
    std::vector<int64_t> order = choices.permutation(input.type.rank()), shuffled;
    for (int64_t position : order) shuffled.push_back(dims[position]);
    dims = shuffled;
  }
  Type type{Shape(rank, -1), input.type.element};
  for (int64_t i = 0; i < input.type.rank(); ++i)
    type.shape[dims[i]] = input.type.shape[i] == 1 ? program.chooseSize() : input.type.shape[i];
  for (int64_t& size : type.shape)
    if (size < 0) size = program.chooseSize();
  if (type.size() > 6000) return;
  program.addOp("sgd.broadcast_in_dim " + input.name + " dims = " + printList(dims) + arrow(input, type), type);
}

void mlir::sgd::fuzz::addTranspose(Program& program) {
  Value input = program.getAny(0, 4);
  std::vector<int64_t> permutation = program.choices.permutation(input.type.rank());
  Type type{{}, input.type.element};
  for (int64_t dim : permutation) type.shape.push_back(input.type.shape[dim]);
  program.addOp("sgd.transpose " + input.name + " permutation = " + printList(permutation) + arrow(input, type), type);
}

void mlir::sgd::fuzz::addReshape(Program& program) {
  Choices& choices = program.choices;
  Value input = program.getAny(0, 4);
  // Prime factors in order, cut anew into dimensions.
  std::vector<int64_t> factors;
  bool isEmpty = input.type.size() == 0;
  for (int64_t size : input.type.shape) {
    for (int64_t factor = 2; size > 1; ++factor)
      for (; size % factor == 0; size /= factor) factors.push_back(factor);
    if (choices.chance(10)) factors.push_back(1);
  }
  Type type{{}, input.type.element};
  for (int64_t factor : factors) {
    if (type.shape.empty() || (type.rank() < 4 && !choices.chance(50)))
      type.shape.push_back(factor);
    else
      type.shape.back() *= factor;
  }
  if (isEmpty) type.shape.insert(type.shape.begin() + static_cast<int64_t>(choices.below(type.rank() + 1)), 0);
  program.addOp("sgd.reshape " + input.name + arrow(input, type), type);
}

void mlir::sgd::fuzz::addSlice(Program& program) {
  Choices& choices = program.choices;
  Value input = program.getAny(1, 4);
  std::vector<int64_t> starts, limits, strides;
  Type type{{}, input.type.element};
  for (int64_t size : input.type.shape) {
    bool isWhole = choices.chance(40);
    int64_t start = isWhole ? 0 : static_cast<int64_t>(choices.below(size + 1));
    int64_t limit = isWhole ? size : size - static_cast<int64_t>(choices.below(size - start + 1));
    int64_t stride = choices.pick({1, 1, 1, 2, 3});
    starts.push_back(start);
    limits.push_back(limit);
    strides.push_back(stride);
    type.shape.push_back((limit - start + stride - 1) / stride);
  }
  program.addOp("sgd.slice " + input.name + " starts = " + printList(starts) + " limits = " + printList(limits) +
                    " strides = " + printList(strides) + arrow(input, type),
                type);
}

void mlir::sgd::fuzz::addPad(Program& program) {
  Choices& choices = program.choices;
  Value input = program.getAny(1, 4), value = program.getScalar(input.type.element);
  std::vector<int64_t> low, high, interior;
  Type type{{}, input.type.element};
  auto choosePadding = [&] {
    return choices.chance(40) ? static_cast<int64_t>(choices.below(6)) - (choices.chance(25) ? 4 : 0) : 0;
  };
  for (int64_t size : input.type.shape) {
    low.push_back(choosePadding());
    high.push_back(choosePadding());
    interior.push_back(choices.pick({0, 0, 0, 1, 2}));
    int64_t spread = size == 0 ? 0 : (size - 1) * (interior.back() + 1) + 1;
    if (low.back() + high.back() + spread < 0) low.back() = -high.back() - spread;
    type.shape.push_back(low.back() + high.back() + spread);
  }
  if (type.size() > 6000) return;
  program.addOp("sgd.pad " + input.name + ", " + value.name + " low = " + printList(low) +
                    " high = " + printList(high) + " interior = " + printList(interior) + " : " + input.type.print() +
                    ", " + value.type.print() + " -> " + type.print(),
                type);
}

void mlir::sgd::fuzz::addConcatenate(Program& program) {
  Choices& choices = program.choices;
  std::vector<Value> inputs = {program.getAny(1, 4)};
  auto dimension = static_cast<int64_t>(choices.below(inputs[0].type.rank()));
  Type type = inputs[0].type;
  for (uint64_t more = choices.pick({1, 1, 2, 3, 0}); more > 0; --more) {
    Type next = inputs[0].type;
    if (choices.chance(50)) next.shape[dimension] = program.chooseSize();
    if (type.size() + next.size() > 6000) break;
    inputs.push_back(program.getOperand(next));
    type.shape[dimension] += next.shape[dimension];
  }
  std::string names, types;
  for (const Value& input : inputs) {
    names += (names.empty() ? "" : ", ") + input.name;
    types += (types.empty() ? "" : ", ") + input.type.print();
  }
  program.addOp("sgd.concatenate " + names + " dimension = " + std::to_string(dimension) + " : (" + types + ") -> " +
                    type.print(),
                type);
}

void mlir::sgd::fuzz::addReverse(Program& program) {
  Value input = program.getAny(0, 4);
  std::vector<int64_t> dims =
      program.choices.subset(input.type.rank(), static_cast<int64_t>(program.choices.below(input.type.rank() + 1)));
  program.addOp("sgd.reverse " + input.name + " dimensions = " + printList(dims) + " : " + input.type.print(),
                input.type);
}

void mlir::sgd::fuzz::addIota(Program& program) {
  Choices& choices = program.choices;
  Value other = program.getAny([](const Type& type) { return type.rank() > 0 && type.element != "i1"; },
                               [&] { return Type{program.chooseShape(1, 4), program.chooseNumber()}; });
  Value iota = program.addOp(
      "sgd.iota dimension = " + std::to_string(choices.below(other.type.rank())) + " : " + other.type.print(),
      other.type);
  program.addElementwise(other.type.isFloat() ? "arith.addf" : "arith.addi", {iota, other}, other.type,
                         other.type.print());
}
