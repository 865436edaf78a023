// Recurrent layers: a loop over time, and one back that adds up gradients of weights and stacks those of inputs.
#include "tests/fuzz/families.h"
#include "tests/fuzz/loop_text.h"

using namespace mlir::sgd::fuzz;

namespace {

class Recurrent {
 public:
  explicit Recurrent(Program& program);
  void write();

 private:
  Value zeros(const Type& type) { return program.addLine("arith.constant dense<0.0> : " + type.print(), type); }
  std::string elementwise(const std::string& name, const std::string& op, const Type& type) const {
    return "    %" + name + " = " + op + " : " + type.print() + "\n";
  }
  /// Rows times weights, which may be transposed.
  std::string project(const std::string& name, const std::string& rows, const std::string& weights, const Type& from,
                      const Type& by, bool isTransposed) const {
    return LoopText::dot(name, rows, weights, isTransposed ? "[1] x [1]" : "[1] x [0]", from, by, gates);
  }
  std::vector<Value> writeForward();
  void writeBackward(const std::vector<Value>& forward);
  /// Gradients of weights, and how they come to a sum of type `weights`.
  std::string addGradient(const std::string& sum, const std::string& rows, const Type& from, const Type& weights,
                          bool isTransposed);

  Program& program;
  Choices& choices;
  int64_t steps, batch, features, width, numGates;
  LoopText loop;
  std::string element;
  Type number{{}, "i32"}, input, hidden, gates, inputs, states, inputWeights, hiddenWeights;
  bool isReversed, isInputTransposed, isHiddenTransposed;
  Value zero, wi, wh;
};

Recurrent::Recurrent(Program& program)
    : program(program),
      choices(program.choices),
      steps(choices.pick<int64_t>({2, 3, 4, 6})),
      batch(choices.pick<int64_t>({1, 2, 4, 6, 8})),
      features(choices.pick<int64_t>({1, 3, 8, 16, 24})),
      width(choices.pick<int64_t>({1, 2, 4, 8, 12})),
      numGates(choices.pick<int64_t>({1, 2, 3})),
      loop(program, steps),
      element(!program.differentiable.empty() ? program.differentiable
              : choices.chance(85)            ? "f32"
                                              : "f64"),  // sums of trips are rounded in another order
      isReversed(choices.chance(30)),
      isInputTransposed(choices.chance(30)),
      isHiddenTransposed(choices.chance(30)) {
  auto weights = [&](int64_t rows, bool isTransposed) {
    int64_t columns = numGates * width;
    return Type{isTransposed ? Shape{columns, rows} : Shape{rows, columns}, element};
  };
  input = {{batch, features}, element};
  hidden = {{batch, width}, element};
  gates = {{batch, numGates * width}, element};
  inputs = {{steps, batch, features}, element};
  states = {{steps, batch, width}, element};
  inputWeights = weights(features, isInputTransposed);
  hiddenWeights = weights(width, isHiddenTransposed);
}

void Recurrent::write() {
  zero = program.addLine("arith.constant dense<0> : tensor<i32>", number);
  wi = program.addArgument(inputWeights);
  wh = program.addArgument(hiddenWeights);
  std::vector<Value> forward = writeForward();
  if (choices.chance(85)) writeBackward(forward);
}

/// Inputs, states before each step, what they became, and its slope.
std::vector<Value> Recurrent::writeForward() {
  Value xs = program.addArgument(inputs), h = program.addArgument(hidden);
  if (choices.chance(20)) xs = program.addLine("math.tanh " + xs.name + " : " + inputs.print(), inputs);
  std::string body = loop.row(isReversed) + LoopText::slice("x0", "%xs", inputs, input);
  body +=
      choices.chance(30) ? elementwise("x", "arith.mulf %x0, %x0", input) : elementwise("x", "arith.negf %x0", input);
  body += project("a", "%x", "%wi", input, inputWeights, isInputTransposed) +
          project("b", "%h", "%wh", hidden, hiddenWeights, isHiddenTransposed) +
          elementwise("c", "arith.addf %a, %b", gates) + elementwise("t", "math.tanh %c", gates);
  std::string state = "%g0";
  for (int64_t gate = 0; gate < numGates; ++gate) {
    std::string name = "g" + std::to_string(gate);
    body += "    %" + name + " = sgd.slice %t starts = " + printList({0, gate * width}) +
            " limits = " + printList({batch, (gate + 1) * width}) + " strides = [1, 1] : " + gates.print() + " -> " +
            hidden.print() + "\n";
    if (gate == 0) continue;
    body += elementwise("m" + std::to_string(gate), "arith.mulf " + state + ", %" + name, hidden);
    state = "%m" + std::to_string(gate);
  }
  body += elementwise("square", "arith.mulf " + state + ", " + state, hidden) +
          elementwise("slope", "arith.subf " + state + ", %square", hidden) +
          LoopText::put("before2", "%h", "%before", hidden, states) +
          LoopText::put("ys2", state, "%ys", hidden, states) +
          LoopText::put("slopes2", "%slope", "%slopes", hidden, states);
  return loop.add(zero,
                  {{xs, "%xs", "%xs"},
                   {wi, "%wi", "%wi"},
                   {wh, "%wh", "%wh"},
                   {h, "%h", state},
                   {zeros(states), "%before", "%before2"},
                   {zeros(states), "%ys", "%ys2"},
                   {zeros(states), "%slopes", "%slopes2"}},
                  body);
}

std::string Recurrent::addGradient(const std::string& sum, const std::string& rows, const Type& from,
                                   const Type& weights, bool isTransposed) {
  Type other{{weights.shape[1], weights.shape[0]}, element};
  bool isTurned = choices.chance(40);
  bool rowsFirst = isTurned == isTransposed;
  std::string name = sum + "_part";
  std::string text = rowsFirst ? LoopText::dot(name, rows, "%dg", "[0] x [0]", from, gates, isTurned ? other : weights)
                               : LoopText::dot(name, "%dg", rows, "[0] x [0]", gates, from, isTurned ? other : weights);
  if (isTurned) {
    text += "    %" + name + "_turned = sgd.transpose %" + name + " permutation = [1, 0] : " + other.print() + " -> " +
            weights.print() + "\n";
    name += "_turned";
  }
  return text +
         elementwise(sum + "2",
                     choices.chance(50) ? "arith.addf %" + sum + ", %" + name : "arith.addf %" + name + ", %" + sum,
                     weights);
}

void Recurrent::writeBackward(const std::vector<Value>& forward) {
  Value dys = program.addArgument(states);
  if (choices.chance(50))
    dys = program.addLine("arith.mulf " + dys.name + ", " + forward[5].name + " : " + states.print(), states);
  std::string body = loop.row(!isReversed) + LoopText::slice("dy", "%dys", states, hidden) +
                     LoopText::slice("x", "%xs", inputs, input) + LoopText::slice("h", "%before", states, hidden) +
                     LoopText::slice("y", "%ys", states, hidden) + LoopText::slice("slope", "%slopes", states, hidden) +
                     elementwise("s", "arith.addf %dy, %dh", hidden) +
                     elementwise("m", "arith.mulf %s, %slope", hidden);
  std::string parts, types;
  for (int64_t gate = 0; gate < numGates; ++gate) {
    parts += (gate == 0 ? "%m" : gate == 1 ? ", %y" : ", %s");
    types += (gate == 0 ? "" : ", ") + hidden.print();
  }
  body += "    %dg = sgd.concatenate " + parts + " dimension = 1 : (" + types + ") -> " + gates.print() + "\n";
  body += LoopText::dot("back", "%dg", "%wh", isHiddenTransposed ? "[1] x [0]" : "[1] x [1]", gates, hiddenWeights,
                        hidden) +
          elementwise("dh2", "math.tanh %back", hidden) +
          addGradient("dwi", "%x", input, inputWeights, isInputTransposed) +
          addGradient("dwh", "%h", hidden, hiddenWeights, isHiddenTransposed) +
          LoopText::dot("dx", "%dg", "%wi", isInputTransposed ? "[1] x [0]" : "[1] x [1]", gates, inputWeights, input) +
          LoopText::put("dxs2", "%dx", "%dxs", input, inputs);
  Value sum = choices.chance(70) ? zeros(inputWeights) : program.addArgument(inputWeights);
  loop.add(zero,
           {{dys, "%dys", "%dys"},
            {forward[0], "%xs", "%xs"},
            {forward[4], "%before", "%before"},
            {forward[5], "%ys", "%ys"},
            {forward[6], "%slopes", "%slopes"},
            {wi, "%wi", "%wi"},
            {wh, "%wh", "%wh"},
            {zeros(hidden), "%dh", "%dh2"},
            {sum, "%dwi", "%dwi2"},
            {zeros(hiddenWeights), "%dwh", "%dwh2"},
            {zeros(inputs), "%dxs", "%dxs2"}},
           body);
}

}  // namespace

void mlir::sgd::fuzz::addRecurrent(Program& program) { Recurrent(program).write(); }
