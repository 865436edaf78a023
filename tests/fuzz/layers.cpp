// Layers in a loop over stacked parameters, a loop back over what it left, and an update, on the stages of a pipeline.
#include "tests/fuzz/families.h"

using namespace mlir::sgd::fuzz;

namespace {

class Layers {
 public:
  explicit Layers(Program& program) : program(program), choices(program.choices) {
    program.isPipelined = true;
    layers = choices.pick<int64_t>({2, 3, 4, 5, 6});
    width = choices.pick<int64_t>({1, 2, 3, 4, 8});
    stream = {{choices.pick<int64_t>({24, 48, 96, 96}), width}, "f32"};
    weight = {{width, width}, "f32"};
    weights = {{layers, width, width}, "f32"};
    kept = {{layers, stream.shape[0], width}, "f32"};
    isReversed = choices.chance(20);
  }

  void write() {
    zero = line("arith.constant dense<0> : tensor<i32>", number);
    w = stacked();
    std::vector<Value> forward = writeForward(program.addArgument(stream));
    if (choices.chance(30)) line("math.tanh " + forward[3].name + " : " + kept.print(), kept);
    if (choices.chance(20)) takeRow();
    if (!choices.chance(80)) return;
    Value gradient = writeBackward(forward);
    if (choices.chance(80)) update(gradient);
  }

 private:
  Value line(const std::string& op, const Type& type) { return program.addLine(op, type); }
  Value binary(const std::string& name, const Value& a, const Value& b) {
    return line(name + " " + a.name + ", " + b.name + " : " + a.type.print(), a.type);
  }
  Value fill(const std::string& value, const Type& type) {
    return line("arith.constant dense<" + value + "> : " + type.print(), type);
  }

  /// An argument, or what is computed from one row by row, or not so.
  Value stacked() {
    Value argument = program.addArgument(weights);
    if (choices.chance(15)) return line("math.tanh " + argument.name + " : " + weights.print(), weights);
    if (choices.chance(10))
      return line("sgd.reverse " + argument.name + " dimensions = [0] : " + weights.print(), weights);
    if (choices.chance(10))
      return line(
          "sgd.transpose " + argument.name + " permutation = [0, 2, 1] : " + weights.print() + " -> " + weights.print(),
          weights);
    return argument;
  }

  /// Ops of a body: the row of trip %i, with constants.
  std::string row(bool back) const {
    std::string text =
        "    %zero = arith.constant dense<0> : tensor<i32>\n"
        "    %one = arith.constant dense<1> : tensor<i32>\n"
        "    %last = arith.constant dense<" +
        std::to_string(layers - 1) +
        "> : tensor<i32>\n"
        "    %next = arith.addi %i, %one : tensor<i32>\n";
    return text + (back != isReversed ? "    %row = arith.subi %last, %i : tensor<i32>\n"
                                      : "    %row = arith.addi %i, %zero : tensor<i32>\n");
  }
  static std::string slice(const std::string& name, const std::string& from, const Type& all, const Type& one) {
    Type part{all.shape, all.element};
    part.shape[0] = 1;
    return "    %" + name + "_row = sgd.dynamic_slice " + from +
           ", %row, %zero, %zero sizes = " + printList(part.shape) + " : (" + all.print() +
           ", tensor<i32>, tensor<i32>, tensor<i32>) -> " + part.print() + "\n    %" + name + " = sgd.reshape %" +
           name + "_row : " + part.print() + " -> " + one.print() + "\n";
  }
  static std::string put(const std::string& name, const std::string& value, const std::string& into, const Type& one,
                         const Type& all) {
    Type part{all.shape, all.element};
    part.shape[0] = 1;
    return "    %" + name + "_row = sgd.reshape " + value + " : " + one.print() + " -> " + part.print() + "\n    %" +
           name + " = sgd.dynamic_update_slice " + into + ", %" + name + "_row, %row, %zero, %zero : (" + all.print() +
           ", " + part.print() + ", tensor<i32>, tensor<i32>, tensor<i32>) -> " + all.print() + "\n";
  }
  static std::string product(const std::string& name, const std::string& a, const std::string& b,
                             const std::string& contracting, const Type& left, const Type& right, const Type& type) {
    return "    %" + name + " = sgd.dot_general " + a + ", " + b + " batching = [] x [] contracting = " + contracting +
           " : " + left.print() + ", " + right.print() + " -> " + type.print() + "\n";
  }

  std::vector<Value> loop(const std::vector<Value>& inits, const std::string& arguments, const std::string& body,
                          const std::string& yielded) {
    std::string names, types;
    std::vector<Type> all;
    for (const Value& init : inits) {
      names += (names.empty() ? "" : ", ") + init.name;
      types += (types.empty() ? "" : ", ") + init.type.print();
      all.push_back(init.type);
    }
    return program.addLines("sgd.while(" + names + ") trips " + std::to_string(layers) + " do {\n  ^bb0(" + arguments +
                                "):\n" + body + "    sgd.yield " + yielded + " : " + types + "\n  } : (" + types +
                                ") -> (" + types + ")",
                            all);
  }

  /// Counter, weights, stream, and what each layer began with.
  std::vector<Value> writeForward(const Value& x) {
    std::string body =
        row(false) + slice("w", "%ws", weights, weight) + product("h", "%x", "%w", "[1] x [0]", stream, weight, stream);
    if (choices.chance(15))  // all layers' parameters in each
      body += "    %all = sgd.reduce max %ws dimensions = [0, 1] : " + weights.print() + " -> tensor<" +
              std::to_string(width) + "xf32>\n    %more = sgd.broadcast_in_dim %all dims = [1] : tensor<" +
              std::to_string(width) + "xf32> -> " + stream.print() +
              "\n    %g = arith.addf %h, %more : " + stream.print() + "\n";
    else
      body += "    %g = arith.addf %h, %x : " + stream.print() + "\n";
    body += "    %y = math.tanh %g : " + stream.print() + "\n" + put("xs2", "%x", "%xs", stream, kept);
    return loop({zero, w, x, fill("0.0", kept)},
                "%i: tensor<i32>, %ws: " + weights.print() + ", %x: " + stream.print() + ", %xs: " + kept.print(), body,
                "%next, %ws, %y, %xs2");
  }

  Value writeBackward(const std::vector<Value>& forward) {
    Value dy = program.addArgument(stream);
    if (choices.chance(50)) dy = binary("arith.mulf", dy, forward[2]);
    std::string body = row(true) + slice("w", "%ws", weights, weight) + slice("x", "%xs", kept, stream) +
                       product("g", "%dy", "%w", "[1] x [1]", stream, weight, stream) +
                       "    %dx = math.tanh %g : " + stream.print() + "\n" +
                       product("dw", "%x", "%dy", "[0] x [0]", stream, stream, weight) +
                       put("dws2", "%dw", "%dws", weight, weights);
    return loop({zero, w, forward[3], dy, fill("0.0", weights)},
                "%i: tensor<i32>, %ws: " + weights.print() + ", %xs: " + kept.print() + ", %dy: " + stream.print() +
                    ", %dws: " + weights.print(),
                body, "%next, %ws, %xs, %dx, %dws2")[4];
  }

  /// A layer's parameters, outside of the loop.
  void takeRow() {
    Type part{{1, width, width}, "f32"};
    int64_t index = static_cast<int64_t>(choices.below(static_cast<uint64_t>(layers)));
    line("sgd.slice " + w.name + " starts = " + printList({index, 0, 0}) + " limits = " +
             printList({index + 1, width, width}) + " strides = [1, 1, 1] : " + weights.print() + " -> " + part.print(),
         part);
  }

  void update(const Value& gradient) {
    Value step = binary("arith.addf", binary("arith.mulf", program.addArgument(weights), fill("9.000000e-01", weights)),
                        gradient);
    if (choices.chance(40)) {  // by a norm of all
      Value norm = line("sgd.reduce " + choices.pick<std::string>({"add", "max"}) + " " +
                            binary("arith.mulf", gradient, gradient).name +
                            " dimensions = [0, 1, 2] : " + weights.print() + " -> tensor<f32>",
                        {{}, "f32"});
      Value all = line("sgd.broadcast_in_dim " + norm.name + " dims = [] : tensor<f32> -> " + weights.print(), weights);
      step = binary("arith.mulf", step, line("math.tanh " + all.name + " : " + weights.print(), weights));
    }
    binary("arith.subf", w, step);
  }

  Program& program;
  Choices& choices;
  int64_t layers, width;
  Type number{{}, "i32"}, stream, weight, weights, kept;
  bool isReversed;
  Value zero, w;
};

}  // namespace

void mlir::sgd::fuzz::addLayers(Program& program) { Layers(program).write(); }
