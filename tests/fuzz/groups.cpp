// Small groups of ops in which optimisations, propagation and reshards meet.
#include "tests/fuzz/families.h"

using namespace mlir::sgd::fuzz;

namespace {

std::string infix(const std::string& name, const Value& a, const Value& b) {
  return name + " " + a.name + ", " + b.name + " : " + a.type.print();
}

Value addBinary(Program& program, const std::string& name, const Value& a, const Value& b) {
  return program.addOp(infix(name, a, b), a.type);
}

Value addUnary(Program& program, const std::string& name, const Value& a) {
  return program.addOp(name + " " + a.name + " : " + a.type.print(), a.type);
}

Value reduceLast(Program& program, const std::string& kind, const Value& input) {
  Type type = input.type;
  type.shape.pop_back();
  return program.addOp("sgd.reduce " + kind + " " + input.name + " dimensions = " + printList({input.type.rank() - 1}) +
                           " : " + input.type.print() + " -> " + type.print(),
                       type);
}

/// `value` repeated along a new last dimension to be like `other`.
Value broadcastLike(Program& program, const Value& value, const Value& other) {
  std::vector<int64_t> dims;
  for (int64_t dim = 0; dim < value.type.rank(); ++dim) dims.push_back(dim);
  return program.addOp("sgd.broadcast_in_dim " + value.name + " dims = " + printList(dims) + " : " +
                           value.type.print() + " -> " + other.type.print(),
                       other.type);
}

Value product(Program& program, const Value& a, const Value& b, const std::string& dims, const Type& type) {
  return program.addOp("sgd.dot_general " + a.name + ", " + b.name + " " + dims + " : " + a.type.print() + ", " +
                           b.type.print() + " -> " + type.print(),
                       type);
}

Value addSoftmax(Program& program, const Value& x) {
  Value largest = broadcastLike(program, reduceLast(program, "max", x), x);
  Value e = addUnary(program, "math.exp", addBinary(program, "arith.subf", x, largest));
  return addBinary(program, "arith.divf", e, broadcastLike(program, reduceLast(program, "add", e), x));
}

Value getFloats(Program& program, int64_t minRank, int64_t maxRank) {
  return program.getAny(
      [&](const Type& type) { return type.isFloat() && type.rank() >= minRank && type.rank() <= maxRank; },
      [&] { return Type{program.chooseShape(minRank, maxRank), program.chooseFloat({"f32", "f32", "bf16", "f64"})}; });
}

}  // namespace

void mlir::sgd::fuzz::addReshards(Program& program) {
  Value value = program.getAny(0, 4);
  for (uint64_t times = 1 + program.choices.below(3); times > 0; --times) value = program.addConstraint(value);
}

void mlir::sgd::fuzz::addNormalization(Program& program) {
  Value x = getFloats(program, 1, 3);
  if (!program.choices.chance(50)) {
    addSoftmax(program, x);
    return;
  }
  Value mean = broadcastLike(program, reduceLast(program, "add", x), x);
  Value centred = addBinary(program, "arith.subf", x, mean);
  Value squares = reduceLast(program, "add", addBinary(program, "arith.mulf", centred, centred));
  addBinary(program, "arith.mulf", centred, broadcastLike(program, addUnary(program, "math.tanh", squares), x));
}

void mlir::sgd::fuzz::addLayer(Program& program) {
  Choices& choices = program.choices;
  Value x = getFloats(program, 2, 2);
  int64_t rows = x.type.shape[0], width = x.type.shape[1], out = program.chooseSize();
  Value w = program.getOperand({{width, out}, x.type.element}), bias = program.getOperand({{out}, x.type.element});
  Type type{{rows, out}, x.type.element};
  Value y = product(program, x, w, "batching = [] x [] contracting = [1] x [0]", type);
  Value b = program.addOp(
      "sgd.broadcast_in_dim " + bias.name + " dims = [1] : " + bias.type.print() + " -> " + type.print(), type);
  Value h =
      addUnary(program, choices.pick({"math.tanh", "math.erf", "math.exp"}), addBinary(program, "arith.addf", y, b));
  if (!choices.chance(60)) return;
  // Its gradient with respect to the weight, and an update.
  Value gradient = product(program, x, h, "batching = [] x [] contracting = [0] x [0]", w.type);
  addBinary(program, "arith.subf", w, gradient);
}

void mlir::sgd::fuzz::addRoll(Program& program) {
  Value x = program.getAny(1, 3);
  auto dim = program.choices.below(x.type.rank());
  int64_t size = x.type.shape[dim], shift = static_cast<int64_t>(program.choices.below(size + 1));
  auto slice = [&](int64_t start, int64_t limit) {
    std::vector<int64_t> starts(x.type.rank(), 0), limits = x.type.shape, strides(x.type.rank(), 1);
    starts[dim] = start;
    limits[dim] = limit;
    Type type = x.type;
    type.shape[dim] = limit - start;
    return program.addOp("sgd.slice " + x.name + " starts = " + printList(starts) + " limits = " + printList(limits) +
                             " strides = " + printList(strides) + " : " + x.type.print() + " -> " + type.print(),
                         type);
  };
  Value tail = slice(shift, size), head = slice(0, shift);
  program.addOp("sgd.concatenate " + tail.name + ", " + head.name + " dimension = " + std::to_string(dim) + " : (" +
                    tail.type.print() + ", " + head.type.print() + ") -> " + x.type.print(),
                x.type);
}

void mlir::sgd::fuzz::addSharedSums(Program& program) {
  Choices& choices = program.choices;
  Value a = getFloats(program, 1, 3), b = program.getOperand(a.type);
  std::string kind = choices.pick({"add", "add", "max", "mul"});
  Value x = reduceLast(program, kind, a), y = reduceLast(program, kind, b);
  std::string join = kind == "add"   ? choices.pick({"arith.addf", "arith.subf"})
                     : kind == "max" ? "arith.maximumf"
                                     : "arith.mulf";
  Value sum = addBinary(program, join, x, y);
  if (choices.chance(40)) sum = addUnary(program, "arith.negf", sum);
  if (choices.chance(40) && sum.type.rank() > 0) sum = reduceLast(program, kind, sum);
  if (choices.chance(30)) addBinary(program, "arith.mulf", sum, sum);
}

void mlir::sgd::fuzz::addAttention(Program& program) {
  Choices& choices = program.choices;
  int64_t heads = program.chooseSize(), length = program.chooseSize(), width = choices.pick({4, 8, 3, 16});
  if (heads * length * std::max(length, width) > 8000) length = 8;
  Type type{{heads, length, width}, program.chooseFloat({"f32", "bf16"})};
  Value q = program.getOperand(type), k = program.getOperand(type), v = program.getOperand(type);
  Type scores{{heads, length, length}, type.element};
  Value s = product(program, q, k, "batching = [0] x [0] contracting = [2] x [2]", scores);
  product(program, addSoftmax(program, s), v, "batching = [0] x [0] contracting = [2] x [1]", type);
}
