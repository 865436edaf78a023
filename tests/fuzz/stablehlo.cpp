// Elementwise ops and reductions of StableHLO, whose lowering makes several ops of one.
#include <algorithm>

#include "tests/fuzz/families.h"
#include "tests/fuzz/stablehlo_text.h"

using namespace mlir::sgd::fuzz;

void mlir::sgd::fuzz::addStablehloOp(Program& program) {
  static const std::vector<std::string> unary = {"negate", "abs",      "exponential", "log",   "tanh", "sqrt",
                                                 "rsqrt",  "logistic", "sign",        "floor", "cbrt", "sine"};
  static const std::vector<std::string> binary = {"add",     "subtract", "multiply",  "divide",
                                                  "maximum", "minimum",  "remainder", "power"};
  Choices& choices = program.choices;
  Value x = getNumbers(program, 0, 4);
  bool isUnary = x.type.isFloat() && choices.chance(50);
  std::string op = choices.pick(isUnary ? unary : binary);
  Value y = isUnary ? x : program.getOperand(x.type);
  Value r =
      program.addOp("stablehlo." + op + " " + x.name + (isUnary ? "" : ", " + y.name) + " : " + x.type.print(), x.type);
  if (choices.chance(40)) {
    std::string to = program.chooseElement();
    program.addOp("stablehlo.convert " + r.name + " : (" + r.type.print() + ") -> " + Type{r.type.shape, to}.print(),
                  {r.type.shape, to});
  }
  if (!choices.chance(40) || r.type.rank() == 0) return;
  // A reduction with its initial value, which counts once whatever the sharding.
  std::string kind = choices.pick({"add", "maximum", "minimum", "multiply"});
  std::vector<int64_t> dims = choices.subset(r.type.rank(), 1 + static_cast<int64_t>(choices.below(r.type.rank())));
  Type type{{}, r.type.element};
  for (int64_t dim = 0; dim < r.type.rank(); ++dim)
    if (std::find(dims.begin(), dims.end(), dim) == dims.end()) type.shape.push_back(r.type.shape[dim]);
  Value init = choices.chance(50) ? program.getOperand({{}, r.type.element}) : addNeutral(program, r, kind);
  program.addOp("stablehlo.reduce(" + r.name + " init: " + init.name + ") applies stablehlo." + kind +
                    " across dimensions = " + printList(dims) + " : (" + r.type.print() + ", " + printScalar(r) +
                    ") -> " + type.print(),
                type);
}
