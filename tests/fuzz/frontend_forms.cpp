// Forms that only the frontend knows: ragged matmuls, draws from the runtime's generator, integers of 4 bits,
// approximate top_k, a second mesh.
#include <algorithm>

#include "tests/fuzz/families.h"
#include "tests/fuzz/stablehlo_text.h"

using namespace mlir::sgd::fuzz;

namespace {

/// Rows of lhs times the matrix of their group, or for each group the matmul that contracts its rows.
void addRaggedDot(Program& program) {
  Choices& choices = program.choices;
  std::string element = choices.pick({"f32", "f32", "bf16", "f64"});
  int64_t m = choices.pick({8, 1, 5, 12, 16, 24, 0, 40}), k = choices.pick({4, 1, 3, 8, 6}),
          n = choices.pick({6, 1, 4, 5, 8}), groups = choices.pick({3, 1, 2, 4, 5, 8});
  bool isContracted = choices.chance(40), isColumnFirst = choices.chance(30), isTransposed = choices.chance(40);
  Type lhs{isColumnFirst ? Shape{k, m} : Shape{m, k}, element}, rhs, result;
  std::string contracting = std::to_string(isColumnFirst == isContracted ? 1 : 0),
              ragged = std::to_string(isColumnFirst ? 1 : 0);
  std::string dims = "lhs_contracting_dimensions = [" + contracting + "], rhs_contracting_dimensions = [";
  if (isContracted) {
    rhs = {isTransposed ? Shape{n, m} : Shape{m, n}, element};
    result = {{groups, k, n}, element};
    dims += std::string(isTransposed ? "1" : "0") + "], lhs_ragged_dimensions = [" + ragged + "]";
  } else {
    rhs = {isTransposed ? Shape{groups, n, k} : Shape{groups, k, n}, element};
    result = {{m, n}, element};
    dims += std::string(isTransposed ? "2" : "1") + "], lhs_ragged_dimensions = [" + ragged +
            "], rhs_group_dimensions = [0]";
  }
  Value a = program.getOperand(lhs), b = program.getOperand(rhs);
  Value sizes = program.addArgument({{groups}, "i32"}, Range::numbers(0, std::max<int64_t>(1, 2 * m / groups)));
  program.addOp("\"chlo.ragged_dot\"(" + a.name + ", " + b.name + ", " + sizes.name +
                    ") <{ragged_dot_dimension_numbers = #chlo.ragged_dot<" + dims + ">}> : (" + a.type.print() + ", " +
                    b.type.print() + ", " + sizes.type.print() + ") -> " + result.print(),
                result);
}

void addDraw(Program& program) {
  Choices& choices = program.choices;
  Type type{program.chooseShape(0, 3), "f32"};
  Value low = addConstant(program, "f32", "-1.0"), high = addConstant(program, "f32", "2.0");
  std::string sizes;
  for (int64_t size : type.shape) sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
  Type shapeType{{type.rank()}, "i64"};
  Value shape = program.addLine(
      "stablehlo.constant dense<" + (type.rank() == 0 ? "" : "[" + sizes + "]") + "> : " + shapeType.print(),
      shapeType);
  program.addOp("stablehlo.rng " + low.name + ", " + high.name + ", " + shape.name +
                    ", distribution = " + choices.pick({"UNIFORM", "NORMAL"}) + " : (tensor<f32>, tensor<f32>, " +
                    shapeType.print() + ") -> " + type.print(),
                type);
}

void addNarrowIntegers(Program& program) {
  Choices& choices = program.choices;
  std::string element = choices.pick({"i4", "ui4", "i4", "i2"});
  Type type{program.chooseShape(0, 3), element}, wide{type.shape, choices.pick({"i32", "f32", "i8", "bf16"})};
  auto convert = [&](const Value& value, const Type& to) {
    return program.addOp("stablehlo.convert " + value.name + " : (" + value.type.print() + ") -> " + to.print(), to);
  };
  Value x = choices.chance(60) ? program.addArgument(type) : convert(program.getOperand(wide), type);
  if (choices.chance(70)) {
    std::string op = choices.pick({"add", "multiply", "subtract", "maximum", "and", "xor"});
    Value y = program.getOperand(type);
    x = program.addOp("stablehlo." + op + " " + x.name + ", " + y.name + " : " + type.print(), type);
  }
  convert(x, wide);
}

/// With the comparator that JAX writes, a function beside the program.
void addApproximateTopK(Program& program) {
  Choices& choices = program.choices;
  Type type{program.chooseShape(1, 3), "f32"};
  auto dim = static_cast<int64_t>(choices.below(type.rank()));
  if (type.shape[dim] == 0) type.shape[dim] = 3;
  int64_t k = 1 + static_cast<int64_t>(choices.below(type.shape[dim]));
  Type positions{type.shape, "i32"}, values = type, indices = positions;
  values.shape[dim] = indices.shape[dim] = k;
  bool isMax = choices.chance(50);
  std::string name = "@order" + std::to_string(program.declarations.size());
  program.declarations.push_back("func.func private " + name +
                                 "(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> " +
                                 "{\n  %0 = stablehlo.compare " + (isMax ? "GT" : "LT") +
                                 ", %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n  return %0 : tensor<i1>\n}\n");
  Value x = program.getOperand(type);
  Value iota = program.addLine("stablehlo.iota dim = " + std::to_string(dim) + " : " + positions.print(), positions);
  Value first = addConstant(program, "f32", isMax ? "0xFF800000" : "0x7F800000"),
        none = addConstant(program, "i32", "-1");
  program.addLines("stablehlo.custom_call @ApproxTopK(" + x.name + ", " + iota.name + ", " + first.name + ", " +
                       none.name + ") {called_computations = [" + name +
                       "], mhlo.backend_config = {aggregate_to_topk = true, reduction_dim = " + std::to_string(dim) +
                       " : i64, top_k = " + std::to_string(k) + " : i64, recall_target = 9.5e-01 : f32}} : (" +
                       type.print() + ", " + positions.print() + ", tensor<f32>, tensor<i32>) -> (" + values.print() +
                       ", " + indices.print() + ")",
                   {values, indices});
}

/// An annotation on a mesh of one axis over the same ranks.
void addOtherMesh(Program& program) {
  Choices& choices = program.choices;
  int64_t ranks = program.mesh.getNumRanks();
  Value x = program.getAny(1, 3);
  std::string declaration = "sdy.mesh @other = <[\"u\"=" + std::to_string(ranks) + "]>\n";
  if (std::find(program.declarations.begin(), program.declarations.end(), declaration) == program.declarations.end())
    program.declarations.push_back(declaration);
  uint64_t sharded = choices.below(x.type.rank());
  std::string dims;
  for (int64_t dim = 0; dim < x.type.rank(); ++dim) {
    bool isOwn = dim == static_cast<int64_t>(sharded) && x.type.shape[dim] % ranks == 0;
    dims += std::string(dim == 0 ? "" : ", ") + (isOwn ? "{\"u\"}" : "{}");
  }
  program.addLine("sdy.sharding_constraint " + x.name + " <@other, [" + dims + "]> : " + x.type.print(), x.type);
}

}  // namespace

void mlir::sgd::fuzz::addFrontendForm(Program& program) {
  // Declarations stand beside the function; annotations do not stand in manual computations.
  bool isFunction = program.region == Program::Region::Function;
  using Add = void (*)(Program&);
  std::vector<Add> forms = {addRaggedDot, addDraw, addNarrowIntegers};
  if (isFunction) forms.insert(forms.end(), {addApproximateTopK, addOtherMesh});
  program.choices.pick(forms)(program);
}
