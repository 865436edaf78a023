// Rows sorted by a key, processed in that order and put back, as a mixture of experts does with tokens.
#include "tests/fuzz/families.h"

using namespace mlir::sgd::fuzz;

namespace {

class Dispatch {
 public:
  explicit Dispatch(Program& program);
  void add();

 private:
  Value op(const std::string& text, const Type& type) { return program.addOp(text, type); }
  Value splat(const Type& type, const std::string& number) {
    return program.addLine("arith.constant dense<" + number + "> : " + type.print(), type);
  }
  Value reshape(const Value& value, const Shape& shape);
  Value iota(const Type& type, int64_t dim);
  Value spread(const Value& value, int64_t dim, const Shape& shape);
  Value elementwise(const std::string& name, const Value& a, const Value& b);
  /// Sorted keys, and numbers sorted with them.
  std::vector<Value> sort(const Value& keys);
  Value gather(const Value& rows, const Value& indices);
  Value scatter(const std::string& kind, int64_t size, const Value& indices, const Value& rows);
  /// For each row, the number of groups that end before it.
  Value getGroups();
  Value process(const Value& rows);
  void putBack(const Value& rows);

  Program& program;
  Choices& choices;
  int64_t tokens, copies, width, groups;
  Value keys, sortedKeys, order;
};

Dispatch::Dispatch(Program& program) : program(program), choices(program.choices) {
  tokens = std::max<int64_t>(program.chooseSize(), 1);
  copies = 1 + static_cast<int64_t>(choices.below(3));
  width = 1 + static_cast<int64_t>(choices.below(5));
  groups = 1 + static_cast<int64_t>(choices.below(5));
}

Value Dispatch::reshape(const Value& value, const Shape& shape) {
  Type type{shape, value.type.element};
  return op("sgd.reshape " + value.name + " : " + value.type.print() + " -> " + type.print(), type);
}

Value Dispatch::iota(const Type& type, int64_t dim) {
  return program.addLine("sgd.iota dimension = " + std::to_string(dim) + " : " + type.print(), type);
}

Value Dispatch::spread(const Value& value, int64_t dim, const Shape& shape) {
  Type type{shape, value.type.element};
  return program.addLine("sgd.broadcast_in_dim " + value.name + " dims = " + printList({dim}) + " : " +
                             value.type.print() + " -> " + type.print(),
                         type);
}

Value Dispatch::elementwise(const std::string& name, const Value& a, const Value& b) {
  return op(name + " " + a.name + ", " + b.name + " : " + a.type.print(), a.type);
}

std::vector<Value> Dispatch::sort(const Value& keys) {
  Value numbers = iota({keys.type.shape, "i32"}, 0);
  std::string types = keys.type.print() + ", " + numbers.type.print(), key = keys.type.element;
  std::string less = key == "i32" ? "arith.cmpi slt" : choices.pick({"arith.cmpf olt", "arith.cmpf ogt"});
  return program.addLines("sgd.sort(" + keys.name + ", " + numbers.name + ") dimension = 0 {\n  ^bb0(%p: " + key +
                              ", %q: " + key + ", %r: i32, %s: i32):\n    %t = " + less + ", %p, %q : " + key +
                              "\n    sgd.yield %t : i1\n  } : (" + types + ") -> (" + types + ")",
                          {keys.type, numbers.type});
}

Value Dispatch::gather(const Value& rows, const Value& indices) {
  Type type{{indices.type.shape[0], rows.type.shape[1]}, rows.type.element};
  return op("sgd.gather " + rows.name + ", " + indices.name +
                " {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = "
                "array<i64>, indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = "
                "1 : i64, slice_sizes = " +
                printArray({1, rows.type.shape[1]}) + "} : (" + rows.type.print() + ", " + indices.type.print() +
                ") -> " + type.print(),
            type);
}

Value Dispatch::scatter(const std::string& kind, int64_t size, const Value& indices, const Value& rows) {
  Type type = rows.type;
  type.shape[0] = size;
  Value zeros = splat(type, type.isFloat() ? "0.0" : "0");
  std::string windows = type.rank() > 1 ? "array<i64: 1>" : "array<i64>";
  return op("sgd.scatter " + kind + " " + zeros.name + ", " + indices.name + ", " + rows.name +
                " {update_window_dims = " + windows +
                ", inserted_window_dims = array<i64: 0>, input_batching_dims = array<i64>, indices_batching_dims = "
                "array<i64>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : (" +
                type.print() + ", " + indices.type.print() + ", " + rows.type.print() + ") -> " + type.print(),
            type);
}

Value Dispatch::getGroups() {
  Type counted{{groups}, "i32"}, compared{{groups, tokens * copies}, "i32"}, tested{compared.shape, "i1"};
  Value counts = scatter("add", groups, keys, splat({{tokens * copies}, "i32"}, "1"));
  Value ends = op("sgd.cumulative add " + counts.name + " dimension = 0 : " + counted.print(), counted);
  Value isBehind = op("arith.cmpi sle, " + spread(ends, 0, compared.shape).name + ", " + iota(compared, 1).name +
                          " : " + compared.print(),
                      tested);
  Value ones = op("arith.extui " + isBehind.name + " : " + tested.print() + " to " + compared.print(), compared);
  Type rows{{tokens * copies}, "i32"};
  return op("sgd.reduce add " + ones.name + " dimensions = [0] : " + compared.print() + " -> " + rows.print(), rows);
}

Value Dispatch::process(const Value& rows) {
  uint64_t how = choices.below(100);
  if (how < 45 && sortedKeys.type.element == "i32") {
    Value weights = program.getOperand({{groups, width, width}, "f32"});
    Value group = getGroups(), numbers = iota({{groups}, "i32"}, 0);
    return op("sgd.grouped_dot " + rows.name + ", " + weights.name + " rows = " + group.name +
                  " groups = " + numbers.name + " : (" + rows.type.print() + ", " + weights.type.print() + ", " +
                  group.type.print() + ", " + numbers.type.print() + ") -> " + rows.type.print(),
              rows.type);
  }
  if (how < 60) return elementwise("arith.mulf", rows, rows);
  if (how < 70) {
    Type sum{{width}, "f32"};
    op("sgd.reduce add " + rows.name + " dimensions = [0] : " + rows.type.print() + " -> " + sum.print(), sum);
  } else if (how < 80 && sortedKeys.type.element == "i32") {
    // A weight for each key.
    return elementwise("arith.mulf", rows, gather(program.getOperand({{groups, width}, "f32"}), sortedKeys));
  } else if (how < 90) {
    // Positions in the order: no shard may be sorted on its own.
    Value numbers = iota({{tokens * copies}, "i32"}, 0);
    Type weighted{numbers.type.shape, "f32"};
    Value weight =
        op("arith.sitofp " + numbers.name + " : " + numbers.type.print() + " to " + weighted.print(), weighted);
    return elementwise("arith.mulf", rows, spread(weight, 0, rows.type.shape));
  }
  return op("math.tanh " + rows.name + " : " + rows.type.print(), rows.type);
}

void Dispatch::putBack(const Value& rows) {
  uint64_t how = choices.below(100);
  if (how < 45) {
    scatter(choices.pick({"set", "add"}), tokens * copies, order, rows);
  } else if (how < 80) {
    gather(rows, sort(order)[1]);
  } else {
    Value numbers = elementwise("sgd.divsi", order, splat(order.type, std::to_string(copies)));
    scatter("add", tokens, numbers, rows);
  }
}

void Dispatch::add() {
  Value x = program.getOperand({{tokens, width}, "f32"});
  bool hasNumbers = choices.chance(80);
  Type chosen{{tokens, copies}, hasNumbers ? "i32" : "f32"};
  keys = reshape(program.addArgument(chosen, hasNumbers ? Range::numbers(0, groups - 1) : Range{}), {tokens * copies});
  if (hasNumbers) keys = elementwise("arith.maxsi", keys, splat(keys.type, "0"));
  std::vector<Value> sorted = sort(keys);
  sortedKeys = sorted[0], order = sorted[1];
  Value numbers = copies == 1 ? order : elementwise("sgd.divsi", order, splat(order.type, std::to_string(copies)));
  Value rows = gather(x, numbers);
  for (uint64_t times = 1 + choices.below(2); times > 0; --times) rows = process(rows);
  for (uint64_t times = 1 + choices.below(2); times > 0; --times) putBack(rows);
}

}  // namespace

void mlir::sgd::fuzz::addDispatch(Program& program) { Dispatch(program).add(); }
