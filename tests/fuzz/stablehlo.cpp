// Elementwise ops and reductions of StableHLO, whose lowering makes several ops of one.
#include <algorithm>

#include "tests/fuzz/families.h"
#include "tests/fuzz/stablehlo_text.h"

using namespace mlir::sgd::fuzz;

namespace {

/// Of one float or two, of one integer or two; `chlo` where it is said.
const Names kStablehloUnaryFloat = {"chlo.acos",
                                    "chlo.acosh",
                                    "chlo.asin",
                                    "chlo.asinh",
                                    "chlo.atan",
                                    "chlo.atanh",
                                    "chlo.bessel_i1e",
                                    "chlo.cosh",
                                    "chlo.digamma",
                                    "chlo.erf",
                                    "chlo.erf_inv",
                                    "chlo.erfc",
                                    "chlo.lgamma",
                                    "chlo.sinh",
                                    "chlo.square",
                                    "chlo.tan",
                                    "stablehlo.ceil",
                                    "stablehlo.cosine",
                                    "stablehlo.exponential_minus_one",
                                    "stablehlo.log_plus_one",
                                    "stablehlo.round_nearest_afz",
                                    "stablehlo.round_nearest_even",
                                    "stablehlo.tan"};
const Names kStablehloBinaryFloat = {"stablehlo.atan2", "chlo.next_after"};
const Names kClass = {"stablehlo.is_finite", "chlo.is_inf", "chlo.is_neg_inf", "chlo.is_pos_inf"};
const Names kStablehloUnaryInteger = {"stablehlo.count_leading_zeros", "stablehlo.not", "stablehlo.popcnt",
                                      "stablehlo.negate"};
const Names kStablehloBinaryInteger = {"stablehlo.and",
                                       "stablehlo.or",
                                       "stablehlo.xor",
                                       "stablehlo.shift_left",
                                       "stablehlo.shift_right_arithmetic",
                                       "stablehlo.shift_right_logical",
                                       "stablehlo.divide",
                                       "stablehlo.remainder"};

}  // namespace

void mlir::sgd::fuzz::addStablehloFunction(Program& program) {
  Choices& choices = program.choices;
  Range range = choices.chance(30) ? Range{"special"} : Range{};
  Value x = getNumbers(program, 0, 3, range);
  bool isFloat = x.type.isFloat(), isBinary = choices.chance(isFloat ? 15 : 60);
  auto print = [&](const std::string& name, const Value& other, const Type& type) {
    std::string operands = isBinary ? x.name + ", " + other.name : x.name, from = x.type.print();
    program.addOp(name + " " + operands + " : " + (isBinary ? from + ", " + from : from) + " -> " + type.print(), type);
  };
  if (choices.chance(10)) {
    // Between two bounds, and a barrier.
    Value low = program.getOperand(x.type), high = program.getOperand(x.type);
    program.addElementwise("stablehlo.clamp", {low, x, high}, x.type, x.type.print());
    program.addElementwise("stablehlo.optimization_barrier", {x}, x.type, x.type.print());
    return;
  }
  if (isFloat && !isBinary && choices.chance(15)) {
    std::string format = choices.pick({"e5m10", "e8m7", "e4m3", "e11m52"});
    program.addOp("stablehlo.reduce_precision " + x.name + ", format = " + format + " : " + x.type.print(), x.type);
    return;
  }
  if (isFloat && !isBinary && choices.chance(10)) {
    Type bits{x.type.shape, "i" + std::to_string(x.type.bits())};
    program.addOp("stablehlo.bitcast_convert " + x.name + " : (" + x.type.print() + ") -> " + bits.print(), bits);
    return;
  }
  if (isFloat && !isBinary && choices.chance(15)) {
    std::string name = choices.pick(kClass);
    bool isChlo = name[0] == 'c';
    Type type{x.type.shape, "i1"};
    program.addOp(name + " " + x.name + " : " + (isChlo ? "" : "(") + x.type.print() + (isChlo ? "" : ")") + " -> " +
                      type.print(),
                  type);
    return;
  }
  const Names& names = isFloat    ? (isBinary ? kStablehloBinaryFloat : kStablehloUnaryFloat)
                       : isBinary ? kStablehloBinaryInteger
                                  : kStablehloUnaryInteger;
  std::string name = choices.pick(names);
  Value y = isBinary ? program.getOperand(x.type) : x;
  if (name[0] == 'c') return print(name, y, x.type);
  std::vector<Value> operands = {x};
  if (isBinary) operands.push_back(y);
  program.addElementwise(name, operands, x.type, x.type.print());
}

void mlir::sgd::fuzz::addStablehloBody(Program& program) {
  Choices& choices = program.choices;
  Value x = program.getAny([](const Type& type) { return type.isFloat() && type.rank() >= 1; },
                           [&] { return Type{program.chooseShape(1, 3), choices.pick({"f32", "f64"})}; });
  std::string type = printScalar(x);
  // An associative body that is not one op: the length of the diagonal.
  std::string ops = "    %s = stablehlo.multiply %p, %p : " + type + "\n    %t = stablehlo.multiply %q, %q : " + type +
                    "\n    %u = stablehlo.add %s, %t : " + type + "\n    %v = stablehlo.sqrt %u : " + type +
                    "\n    stablehlo.return %v : " + type + "\n  }";
  std::string region = "({\n  ^bb0(%p: " + type + ", %q: " + type + "):\n" + ops + ")";
  if (choices.chance(40)) {
    Value y = program.getOperand(x.type);
    std::vector<int64_t> dims;
    for (int64_t dim = 0; dim < x.type.rank(); ++dim) dims.push_back(dim);
    program.addOp("\"stablehlo.map\"(" + x.name + ", " + y.name + ") <{dimensions = " + printArray(dims) + "}> " +
                      region + " : (" + x.type.print() + ", " + x.type.print() + ") -> " + x.type.print(),
                  x.type);
    return;
  }
  auto dim = static_cast<int64_t>(choices.below(x.type.rank()));
  Type result = x.type;
  result.shape.erase(result.shape.begin() + dim);
  Value zero = addNeutral(program, x, "add");
  program.addOp("\"stablehlo.reduce\"(" + x.name + ", " + zero.name + ") <{dimensions = " + printArray({dim}) + "}> " +
                    region + " : (" + x.type.print() + ", " + type + ") -> " + result.print(),
                result);
}

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
