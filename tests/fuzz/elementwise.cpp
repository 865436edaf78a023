// Elementwise ops of arith, math and sgd, on every type that each of them has.
#include "tests/fuzz/families.h"

using namespace mlir::sgd::fuzz;

namespace {

const Names kUnaryFloat = {
    "arith.negf", "math.absf",  "math.exp",   "math.exp2", "math.expm1", "math.log",       "math.log1p", "math.log2",
    "math.log10", "math.sqrt",  "math.rsqrt", "math.cbrt", "math.tanh",  "math.erf",       "math.erfc",  "math.sin",
    "math.cos",   "math.tan",   "math.sinh",  "math.cosh", "math.asin",  "math.acos",      "math.atan",  "math.asinh",
    "math.acosh", "math.atanh", "math.floor", "math.ceil", "math.round", "math.roundeven", "math.trunc"};
const Names kBinaryFloat = {"arith.addf",     "arith.subf",     "arith.mulf",    "arith.divf",
                            "arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf",
                            "arith.remf",     "math.powf",      "math.atan2",    "math.copysign"};
const Names kBinaryInteger = {"arith.addi",  "arith.subi",  "arith.muli",  "arith.andi",  "arith.ori", "arith.xori",
                              "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui", "sgd.divsi", "sgd.divui",
                              "sgd.remsi",   "sgd.remui",   "sgd.shli",    "sgd.shrui",   "sgd.shrsi"};
const Names kUnaryInteger = {"math.absi", "math.ctpop", "math.ctlz", "math.cttz"};
const Names kFloatPredicates = {"oeq", "ogt", "oge", "olt", "ole", "one", "ord",
                                "ueq", "ugt", "uge", "ult", "ule", "une", "uno"};
const Names kIntegerPredicates = {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"};

/// A first operand of a type for which `element` is a good choice.
Value getFirst(Program& program, bool isFloat, bool mayBeBoolean) {
  Range range = program.choices.chance(30) ? Range{"special"} : Range{};
  return program.getAny(
      [&](const Type& type) { return type.isFloat() == isFloat && (mayBeBoolean || type.element != "i1"); },
      [&] {
        std::string element = isFloat ? program.chooseFloat() : program.chooseInteger();
        if (!isFloat && mayBeBoolean && program.choices.chance(15)) element = "i1";
        return Type{program.chooseShape(0, 4), element};
      },
      range);
}

Value getSecond(Program& program, const Value& first) {
  return program.getOperand(first.type, program.choices.chance(20) ? Range{"special"} : Range{});
}

void addCompare(Program& program) {
  bool isFloat = !program.choices.chance(50);
  Value first = getFirst(program, isFloat, true), second = getSecond(program, first);
  std::string name = isFloat ? "arith.cmpf " + program.choices.pick(kFloatPredicates)
                             : "arith.cmpi " + program.choices.pick(kIntegerPredicates);
  program.addOp(name + ", " + first.name + ", " + second.name + " : " + first.type.print(), {first.type.shape, "i1"});
}

void addClass(Program& program) {
  Value x = getFirst(program, true, false);
  program.addOp(std::string(program.choices.pick({"math.isfinite ", "math.isinf ", "math.isnan "})) + x.name + " : " +
                    x.type.print(),
                {x.type.shape, "i1"});
}

void addSelect(Program& program) {
  Value first = getFirst(program, !program.choices.chance(50), true), second = getSecond(program, first);
  Type boolean{first.type.shape, "i1"};
  Value condition = program.getOperand(boolean);
  program.addElementwise("arith.select", {condition, first, second}, first.type,
                         boolean.print() + ", " + first.type.print());
}

void addNumeric(Program& program, const Names& names, bool isFloat, bool isBinary, bool mayBeBoolean) {
  Value first = getFirst(program, isFloat, mayBeBoolean);
  std::vector<Value> operands = {first};
  if (isBinary) operands.push_back(getSecond(program, first));
  program.addElementwise(program.choices.pick(names), operands, first.type, first.type.print());
}

}  // namespace

void mlir::sgd::fuzz::addElementwise(Program& program) {
  switch (program.choices.below(9)) {
    case 0:
    case 1:
      return addNumeric(program, kBinaryFloat, true, true, false);
    case 2:
    case 3:
      return addNumeric(program, kUnaryFloat, true, false, false);
    case 4:
      return addNumeric(program, kBinaryInteger, false, true, true);
    case 5:
      return addNumeric(program, kUnaryInteger, false, false, false);
    case 6:
      return addCompare(program);
    case 7:
      return addClass(program);
    default:
      return addSelect(program);
  }
}
