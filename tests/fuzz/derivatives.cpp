// Functions of floats with a scalar at the end, to be differentiated: ops on numbers for which they are defined, and a
// random linear functional of everything that they compute.
#include "tests/fuzz/families.h"
#include "tests/fuzz/matrix_ops.h"

using namespace mlir::sgd::fuzz;

namespace {

Value getFloat(Program& program, int64_t minRank = 0, int64_t maxRank = 4) {
  return program.getAny(
      [&](const Type& type) { return type.isFloat() && type.rank() >= minRank && type.rank() <= maxRank; },
      [&] { return Type{program.chooseShape(minRank, maxRank), program.chooseFloat()}; });
}

Value addCall(Program& program, const std::string& name, const std::vector<Value>& operands) {
  return program.addElementwise(name, operands, operands[0].type, operands[0].type.print());
}

Value addSplat(Program& program, const Type& type, const std::string& number) {
  return program.addLine("arith.constant dense<" + number + "> : " + type.print(), type);
}

/// Numbers from which a function is smooth.
Value intoDomain(Program& program, const Value& x, const std::string& domain) {
  if (domain.empty()) return x;
  if (domain == "unit") {  // between -0.9 and 0.9
    Value bounded = addCall(program, "math.tanh", {x});
    return addCall(program, "arith.mulf", {bounded, addSplat(program, x.type, "0.9")});
  }
  // From 0.5 or 1.5 on.
  Value square = addCall(program, "arith.mulf", {x, x});
  return addCall(program, "arith.addf", {square, addSplat(program, x.type, domain)});
}

struct Function {
  const char *name, *domain;
};

void addFunction(Program& program) {
  static const std::vector<Function> functions = {
      {"math.tanh", ""},      {"arith.negf", ""},     {"math.absf", ""},      {"math.exp", "unit"},
      {"math.erf", ""},       {"math.erfc", ""},      {"math.sin", ""},       {"math.cos", ""},
      {"math.atan", ""},      {"math.asinh", ""},     {"math.exp2", "unit"},  {"math.expm1", "unit"},
      {"math.tan", "unit"},   {"math.sinh", "unit"},  {"math.cosh", "unit"},  {"math.asin", "unit"},
      {"math.acos", "unit"},  {"math.atanh", "unit"}, {"math.acosh", "1.5"},  {"math.log", "0.5"},
      {"math.log2", "0.5"},   {"math.log10", "0.5"},  {"math.log1p", "0.5"},  {"math.sqrt", "0.5"},
      {"math.rsqrt", "0.5"},  {"math.cbrt", "0.5"},   {"math.floor", "flat"}, {"math.ceil", "flat"},
      {"math.round", "flat"}, {"math.trunc", "flat"}};
  const Function& function = program.choices.pick(functions);
  Value x = getFloat(program);
  bool isFlat = function.domain == std::string("flat");
  Value result = addCall(program, function.name, {intoDomain(program, x, isFlat ? "" : function.domain)});
  if (isFlat) addCall(program, "arith.mulf", {result, x});
}

void addFunctionOfTwo(Program& program) {
  static const std::vector<Function> functions = {
      {"arith.mulf", ""},       {"arith.addf", ""},     {"arith.subf", ""},       {"arith.divf", "second"},
      {"arith.maximumf", ""},   {"arith.minimumf", ""}, {"arith.maxnumf", ""},    {"arith.minnumf", ""},
      {"arith.remf", "second"}, {"math.powf", "first"}, {"math.atan2", "second"}, {"math.copysign", ""}};
  const Function& function = program.choices.pick(functions);
  Value x = getFloat(program), y = program.getOperand(x.type);
  std::string domain = function.domain;
  if (domain == "first") x = intoDomain(program, x, "0.5"), y = intoDomain(program, y, "unit");
  if (domain == "second") y = intoDomain(program, y, "0.5");
  addCall(program, function.name, {x, y});
}

void addSelectOfFloats(Program& program) {
  Value x = getFloat(program), y = program.getOperand(x.type);
  Type boolean{x.type.shape, "i1"};
  Value isLess = program.addOp("arith.cmpf olt, " + x.name + ", " + y.name + " : " + x.type.print(), boolean);
  Value product = addCall(program, "arith.mulf", {x, y});
  program.addElementwise("arith.select", {isLess, product, program.choices.chance(50) ? y : x}, x.type,
                         boolean.print() + ", " + x.type.print());
}

/// Floats with one or two others in their order.
void addSortOfFloats(Program& program) {
  Choices& choices = program.choices;
  std::vector<Value> operands = {getFloat(program, 1, 3)};
  const Type type = operands[0].type;
  while (operands.size() < 3 && choices.chance(60)) operands.push_back(program.getOperand(type));
  std::string names, types, arguments;
  for (const Value& operand : operands) {
    std::string number = std::to_string(names.empty() ? 0 : arguments.size()), element = type.element;
    arguments += (names.empty() ? "" : ", ") + ("%p" + number + ": " + element + ", %q" + number + ": " + element);
    types += (names.empty() ? "" : ", ") + type.print();
    names += (names.empty() ? "" : ", ") + operand.name;
  }
  program.addLines("sgd.sort(" + names + ") dimension = " + std::to_string(choices.below(type.rank())) + " {\n  ^bb0(" +
                       arguments + "):\n    %t = arith.cmpf " + choices.pick({"olt", "ogt"}) + ", %p0, %q0 : " +
                       type.element + "\n    sgd.yield %t : i1\n  } : (" + types + ") -> (" + types + ")",
                   std::vector<Type>(operands.size(), type));
}

void addLargest(Program& program) {
  Value x = getFloat(program, 1, 3);
  Type values = x.type, positions{x.type.shape, "i32"};
  values.shape.back() = positions.shape.back() = static_cast<int64_t>(program.choices.below(x.type.shape.back() + 1));
  program.addLines("sgd.top_k " + x.name + " k = " + std::to_string(values.shape.back()) + " : (" + x.type.print() +
                       ") -> (" + values.print() + ", " + positions.print() + ")",
                   {values, positions});
}

void addUpperTriangle(Program& program, const Value& matrix) {
  Type number{matrix.type.shape, "i32"}, boolean{matrix.type.shape, "i1"};
  auto hidden = [&](const std::string& text, const Type& type) {
    Value value = program.addLine(text, type);
    program.hide(value);
    return value;
  };
  Value row = hidden("sgd.iota dimension = " + std::to_string(matrix.type.rank() - 2) + " : " + number.print(), number);
  Value column =
      hidden("sgd.iota dimension = " + std::to_string(matrix.type.rank() - 1) + " : " + number.print(), number);
  Value isUpper = hidden("arith.cmpi sle, " + row.name + ", " + column.name + " : " + number.print(), boolean);
  Value zeros = addSplat(program, matrix.type, "0.0");
  program.hide(zeros);
  program.addElementwise("arith.select", {isUpper, matrix, zeros}, matrix.type,
                         boolean.print() + ", " + matrix.type.print());
}

/// Functions of matrices that do not depend on signs or phases of vectors.
void addMatrixFunction(Program& program) {
  MatrixOps b(program);
  int64_t n = b.chooseSize(), other = b.chooseSize();
  switch (program.choices.below(7)) {
    case 0:
      b.call("cholesky" + b.maybe("lower"), {b.matrix(n, n)}, {b.matrixType(n, n), b.infoType()});
      return;
    case 1:
      b.call("triangular_solve" + b.maybe("lower") + b.maybe("transpose") + b.maybe("unit_diagonal"),
             {b.matrix(n, n), b.any({n, other})}, {b.matrixType(n, other)});
      return;
    case 2:
      b.call("lu", {b.matrix(n, other)},
             {b.matrixType(n, other), {b.vectorsOf({std::min(n, other)}).shape, "i32"}, b.infoType()});
      return;
    case 3:
      b.call("tridiagonal_solve",
             {b.any({n}), program.addArgument(b.vectorsOf({n}), Range::numbers(6, 9)), b.any({n}), b.any({n, other})},
             {b.matrixType(n, other), b.infoType()});
      return;
    case 4: {
      std::vector<Value> results = b.call("eigh" + b.maybe("lower") + " vectors", {b.matrix(n, n, /*grows=*/true)},
                                          {b.matrixType(n, n), b.vectorsOf({n}), b.infoType()});
      program.hide(results[0]);
      b.addProduct(results[0], results[1], results[0], /*isTransposed=*/true);
      return;
    }
    case 5: {
      int64_t k = std::min(n, other);
      std::vector<Value> results = b.call("svd vectors", {b.matrix(n, other, /*grows=*/true)},
                                          {b.vectorsOf({k}), b.matrixType(n, k), b.matrixType(k, other), b.infoType()});
      program.hide(results[1]);
      program.hide(results[2]);
      b.addProduct(results[1], results[0], results[2], /*isTransposed=*/false);
      return;
    }
    default: {
      std::vector<Value> qr =
          b.call("qr", {b.matrix(n, other)}, {b.matrixType(n, other), b.vectorsOf({std::min(n, other)})});
      addUpperTriangle(program, qr[0]);
      program.hide(qr[0]);
      program.hide(qr[1]);
      if (n >= other) b.call("householder_product", qr, {b.matrixType(n, other)});
    }
  }
}

/// Over the last dimension.
void addTransform(Program& program) {
  Value re = getFloat(program, 1, 3);
  int64_t size = re.type.shape.back();
  if (size == 0 || re.type.size() == 0) return;
  Type half = re.type;
  std::string type = re.type.print();
  switch (program.choices.below(3)) {
    case 0: {
      Value im = program.getOperand(re.type);
      program.addLines("sgd.linear_algebra fft" + std::string(program.choices.chance(50) ? " inverse" : "") + " (" +
                           re.name + ", " + im.name + ") : (" + type + ", " + type + ") -> (" + type + ", " + type +
                           ")",
                       {re.type, re.type});
      return;
    }
    case 1:
      half.shape.back() = size / 2 + 1;
      program.addLines("sgd.linear_algebra real_fft (" + re.name + ") : (" + type + ") -> (" + half.print() + ", " +
                           half.print() + ")",
                       {half, half});
      return;
    default: {
      half.shape.back() = size / 2 + 1;
      Value real = program.getOperand(half), im = program.getOperand(half);
      program.addLines("sgd.linear_algebra inverse_real_fft" + std::string(size % 2 ? " odd_length" : "") + " (" +
                           real.name + ", " + im.name + ") : (" + half.print() + ", " + half.print() + ") -> " + type,
                       {re.type});
    }
  }
}

struct DifferentiableOp {
  void (*add)(Program& program);
  unsigned weight;
  bool isOfF32 = false, hasRegions = false;
};

constexpr DifferentiableOp kDifferentiableOps[] = {
    {addFunction, 4},
    {addFunctionOfTwo, 4},
    {addSelectOfFloats, 1},
    {addDotGeneral, 2},
    {addConvolution, 2},
    {addReduce, 3},
    {addCumulative, 2},
    {addBroadcast, 1},
    {addTranspose, 1},
    {addReshape, 1},
    {addSlice, 1},
    {addPad, 1},
    {addConcatenate, 1},
    {addReverse, 1},
    {addGather, 2},
    {addScatter, 3},
    {addDynamicSlice, 1},
    {addDynamicUpdateSlice, 1},
    {addSortOfFloats, 1},
    {addLargest, 1},
    {addMatrixFunction, 3},
    {addTransform, 1},
    {addNormalization, 1},
    {addLayer, 1},
    {addRoll, 1},
    {addAttention, 1},
    {addDispatch, 1, /*isOfF32=*/true},
    {addLayers, 1, /*isOfF32=*/true, /*hasRegions=*/true},
    {addRecurrent, 1, false, /*hasRegions=*/true},
    {addConditional, 2, false, /*hasRegions=*/true},
    {addGraphLoop, 2, false, /*hasRegions=*/true},
};
constexpr unsigned kMostDepthOfRegions = 2;

/// Adds the sum of products of `value` and random numbers to `loss`.
void addToLoss(Program& program, const Value& value, std::optional<Value>& loss) {
  Value weights = program.addArgument(value.type);
  Value term = addCall(program, "arith.mulf", {value, weights});
  if (value.type.rank() > 0) {
    std::vector<int64_t> dims;
    for (int64_t dim = 0; dim < value.type.rank(); ++dim) dims.push_back(dim);
    Type scalar{{}, value.type.element};
    term = program.addLine("sgd.reduce add " + term.name + " dimensions = " + printList(dims) + " : " +
                               value.type.print() + " -> " + scalar.print(),
                           scalar);
  }
  loss = loss ? program.addLine("arith.addf " + loss->name + ", " + term.name + " : " + term.type.print(), term.type)
              : term;
}

}  // namespace

void mlir::sgd::fuzz::addDifferentiableOps(Program& program, uint64_t count) {
  std::vector<const DifferentiableOp*> ops;
  for (const DifferentiableOp& op : kDifferentiableOps) {
    bool fits =
        (!op.isOfF32 || program.differentiable == "f32") && (!op.hasRegions || program.depth < kMostDepthOfRegions);
    if (fits) ops.insert(ops.end(), op.weight, &op);
  }
  for (; count > 0; --count) program.choices.pick(ops)->add(program);
}

void mlir::sgd::fuzz::addDerivatives(Program& program) {
  if (program.differentiable.empty()) program.differentiable = program.choices.pick({"f32", "f64"});
  addDifferentiableOps(program, 1 + program.choices.below(4));
  std::optional<Value> loss;
  for (const Value& value : program.getUnused())
    if (value.type.isFloat()) addToLoss(program, value, loss);
  if (!loss)
    addToLoss(program, addCall(program, "math.tanh", {program.addArgument({{2, 3}, program.differentiable})}), loss);
}
