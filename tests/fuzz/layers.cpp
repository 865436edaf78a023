// Layers in a loop over stacked parameters, a loop back over what it left, and an update, on the stages of a pipeline.
#include "tests/fuzz/families.h"
#include "tests/fuzz/loop_text.h"

using namespace mlir::sgd::fuzz;

namespace {

class Layers {
 public:
  explicit Layers(Program& program)
      : program(program),
        choices(program.choices),
        layers(choices.pick<int64_t>({2, 3, 4, 5, 6})),
        loop(program, layers) {
    program.isPipelined = true;
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
    if (choices.chance(30)) line("math.tanh " + forward[2].name + " : " + kept.print(), kept);
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

  /// Weights, stream, and what each layer began with.
  std::vector<Value> writeForward(const Value& x) {
    std::string body = loop.row(isReversed) + LoopText::slice("w", "%ws", weights, weight) +
                       LoopText::dot("h", "%x", "%w", "[1] x [0]", stream, weight, stream);
    if (choices.chance(15))  // all layers' parameters in each
      body += "    %all = sgd.reduce max %ws dimensions = [0, 1] : " + weights.print() + " -> tensor<" +
              std::to_string(width) + "xf32>\n    %more = sgd.broadcast_in_dim %all dims = [1] : tensor<" +
              std::to_string(width) + "xf32> -> " + stream.print() +
              "\n    %g = arith.addf %h, %more : " + stream.print() + "\n";
    else
      body += "    %g = arith.addf %h, %x : " + stream.print() + "\n";
    body += "    %y = math.tanh %g : " + stream.print() + "\n" + LoopText::put("xs2", "%x", "%xs", stream, kept);
    return loop.add(zero, {{w, "%ws", "%ws"}, {x, "%x", "%y"}, {fill("0.0", kept), "%xs", "%xs2"}}, body);
  }

  Value writeBackward(const std::vector<Value>& forward) {
    Value dy = program.addArgument(stream);
    if (choices.chance(50)) dy = binary("arith.mulf", dy, forward[1]);
    std::string body = loop.row(!isReversed) + LoopText::slice("w", "%ws", weights, weight) +
                       LoopText::slice("x", "%xs", kept, stream) +
                       LoopText::dot("g", "%dy", "%w", "[1] x [1]", stream, weight, stream) +
                       "    %dx = math.tanh %g : " + stream.print() + "\n" +
                       LoopText::dot("dw", "%x", "%dy", "[0] x [0]", stream, stream, weight) +
                       LoopText::put("dws2", "%dw", "%dws", weight, weights);
    return loop.add(
        zero,
        {{w, "%ws", "%ws"}, {forward[2], "%xs", "%xs"}, {dy, "%dy", "%dx"}, {fill("0.0", weights), "%dws", "%dws2"}},
        body)[3];
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
  int64_t layers;
  LoopText loop;
  int64_t width = 1;
  Type number{{}, "i32"}, stream, weight, weights, kept;
  bool isReversed;
  Value zero, w;
};

}  // namespace

void mlir::sgd::fuzz::addLayers(Program& program) { Layers(program).write(); }
