// Moves of StableHLO: the same ops as at the graph level, in their own form.
#include "tests/fuzz/families.h"
#include "tests/fuzz/stablehlo_text.h"

using namespace mlir::sgd::fuzz;

namespace {

/// `"stablehlo.NAME"(operands) <{attributes}> : (types) -> type`
Value addGeneric(Program& program, const std::string& name, const std::vector<Value>& operands,
                 const std::string& attributes, const Type& type) {
  std::string names, types;
  for (const Value& operand : operands) {
    names += (names.empty() ? "" : ", ") + operand.name;
    types += (types.empty() ? "" : ", ") + operand.type.print();
  }
  return program.addOp(
      "\"stablehlo." + name + "\"(" + names + ") <{" + attributes + "}> : (" + types + ") -> " + type.print(), type);
}

void addTransposed(Program& program) {
  Value x = program.getAny(0, 4);
  std::vector<int64_t> permutation = program.choices.permutation(x.type.rank());
  Type type{{}, x.type.element};
  for (int64_t dim : permutation) type.shape.push_back(x.type.shape[dim]);
  addGeneric(program, "transpose", {x}, "permutation = " + printArray(permutation), type);
}

void addReversed(Program& program) {
  Value x = program.getAny(1, 4);
  std::vector<int64_t> dims = program.choices.subset(x.type.rank(), 1);
  addGeneric(program, "reverse", {x}, "dimensions = " + printArray(dims), x.type);
}

/// Two neighbouring dimensions become one, or one of even size becomes two.
void addReshaped(Program& program) {
  Value x = program.getAny(1, 4);
  Type type = x.type;
  auto dim = static_cast<int64_t>(program.choices.below(type.rank()));
  if (dim + 1 < type.rank() && program.choices.chance(50)) {
    type.shape[dim] *= type.shape[dim + 1];
    type.shape.erase(type.shape.begin() + dim + 1);
  } else if (type.shape[dim] % 2 == 0) {
    type.shape[dim] /= 2;
    type.shape.insert(type.shape.begin() + dim + static_cast<int64_t>(program.choices.below(2)), 2);
  }
  program.addOp("stablehlo.reshape " + x.name + " : (" + x.type.print() + ") -> " + type.print(), type);
}

void addBroadcasted(Program& program) {
  Value x = program.getAny(0, 3);
  int64_t rank = x.type.rank() + static_cast<int64_t>(program.choices.below(2));
  std::vector<int64_t> dims = program.choices.subset(rank, x.type.rank());
  Type type{Shape(rank, -1), x.type.element};
  for (int64_t i = 0; i < x.type.rank(); ++i)
    type.shape[dims[i]] = x.type.shape[i] == 1 ? program.chooseSize() : x.type.shape[i];
  for (int64_t& size : type.shape)
    if (size < 0) size = program.chooseSize();
  if (type.size() > 6000) return;
  addGeneric(program, "broadcast_in_dim", {x}, "broadcast_dimensions = " + printArray(dims), type);
}

void addJoined(Program& program) {
  Value x = program.getAny(1, 4);
  auto dim = static_cast<int64_t>(program.choices.below(x.type.rank()));
  Type other = x.type, type = x.type;
  other.shape[dim] = program.chooseSize();
  type.shape[dim] += other.shape[dim];
  if (type.size() > 6000) return;
  addGeneric(program, "concatenate", {x, program.getOperand(other)}, "dimension = " + std::to_string(dim) + " : i64",
             type);
}

/// A part, padded to a size again: as shifts and gradients of slices are written.
void addPart(Program& program) {
  Choices& choices = program.choices;
  Value x = program.getAny(1, 3);
  std::vector<int64_t> starts, limits, strides, low, high, interior;
  Type type = x.type;
  for (int64_t& size : type.shape) {
    starts.push_back(static_cast<int64_t>(choices.below(size + 1)));
    limits.push_back(size - static_cast<int64_t>(choices.below(size - starts.back() + 1)));
    strides.push_back(choices.pick({1, 1, 2}));
    size = (limits.back() - starts.back() + strides.back() - 1) / strides.back();
  }
  Value part = addGeneric(program, "slice", {x},
                          "start_indices = " + printArray(starts) + ", limit_indices = " + printArray(limits) +
                              ", strides = " + printArray(strides),
                          type);
  for (int64_t& size : type.shape) {
    low.push_back(choices.pick({0, 1, 3, -1}));
    high.push_back(choices.pick({0, 2, 0, -1}));
    interior.push_back(choices.pick({0, 0, 1}));
    int64_t spread = size == 0 ? 0 : (size - 1) * (interior.back() + 1) + 1;
    if (low.back() + high.back() + spread < 0) low.back() = -high.back() - spread;
    size = low.back() + high.back() + spread;
  }
  if (type.size() > 6000) return;
  addGeneric(program, "pad", {part, program.getScalar(x.type.element)},
             "edge_padding_low = " + printArray(low) + ", edge_padding_high = " + printArray(high) +
                 ", interior_padding = " + printArray(interior),
             type);
}

}  // namespace

void mlir::sgd::fuzz::addStablehloMove(Program& program) {
  static constexpr void (*kMoves[])(Program&) = {addTransposed,  addReversed, addReshaped,
                                                 addBroadcasted, addJoined,   addPart};
  program.choices.pick(std::vector(std::begin(kMoves), std::end(kMoves)))(program);
}

void mlir::sgd::fuzz::addStablehloDot(Program& program) {
  Choices& choices = program.choices;
  int64_t batch = program.chooseSize(), rows = program.chooseSize(), columns = program.chooseSize(),
          inner = program.chooseSize();
  bool isBatched = choices.chance(40);
  if (batch * rows * inner > 4000 || batch * inner * columns > 4000 || batch * rows * columns > 4000) batch = 1;
  std::string element = choices.chance(20) ? program.chooseInteger() : program.chooseFloat();
  Shape front = isBatched ? Shape{batch} : Shape{};
  auto shape = [&](int64_t a, int64_t b) {
    Shape all = front;
    all.insert(all.end(), {a, b});
    return all;
  };
  // The result may have more bits than the operands.
  std::string wide = element == "bf16" || element == "f16" ? choices.pick({element.c_str(), "f32"}) : element;
  Type lhs{shape(rows, inner), element}, rhs{shape(inner, columns), element}, type{shape(rows, columns), wide};
  Value a = program.getOperand(lhs), b = program.getOperand(rhs);
  std::string first = std::to_string(isBatched ? 2 : 1), second = std::to_string(isBatched ? 1 : 0);
  program.addOp("stablehlo.dot_general " + a.name + ", " + b.name + (isBatched ? ", batching_dims = [0] x [0]" : "") +
                    ", contracting_dims = [" + first + "] x [" + second + "] : (" + lhs.print() + ", " + rhs.print() +
                    ") -> " + type.print(),
                type);
}

void mlir::sgd::fuzz::addBatchNorm(Program& program) {
  Choices& choices = program.choices;
  Type type{program.chooseShape(2, 4), choices.pick({"f32", "f64"})};
  for (int64_t& size : type.shape) size = std::max<int64_t>(size, 1);
  auto feature = static_cast<int64_t>(choices.below(type.rank()));
  Type vector{{type.shape[feature]}, type.element};
  Value x = program.getOperand(type), scale = program.getOperand(vector), offset = program.getOperand(vector);
  std::string attributes = " <{epsilon = 1.0e-1 : f32, feature_index = " + std::to_string(feature) + " : i64}> : (";
  std::string vectors = vector.print() + ", " + vector.print();
  std::vector<Value> trained =
      program.addLines("\"stablehlo.batch_norm_training\"(" + x.name + ", " + scale.name + ", " + offset.name + ")" +
                           attributes + type.print() + ", " + vectors + ") -> (" + type.print() + ", " + vectors + ")",
                       {type, vector, vector});
  if (choices.chance(50)) {
    program.addLine("\"stablehlo.batch_norm_inference\"(" + x.name + ", " + scale.name + ", " + offset.name + ", " +
                        trained[1].name + ", " + trained[2].name + ")" + attributes + type.print() + ", " + vectors +
                        ", " + vectors + ") -> " + type.print(),
                    type);
    return;
  }
  Value gradient = program.getOperand(type);
  program.addLines("\"stablehlo.batch_norm_grad\"(" + x.name + ", " + scale.name + ", " + trained[1].name + ", " +
                       trained[2].name + ", " + gradient.name + ")" + attributes + type.print() + ", " + vectors +
                       ", " + vector.print() + ", " + type.print() + ") -> (" + type.print() + ", " + vectors + ")",
                   {type, vector, vector});
}
