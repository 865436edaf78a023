// StableHLO as JAX prints it: what the frontend lowers to many ops, so that lowering, propagation and kernels meet.
#include <algorithm>

#include "tests/fuzz/families.h"

using namespace mlir::sgd::fuzz;

namespace {

std::string scalar(const Value& value) { return "tensor<" + value.type.element + ">"; }

std::string region(const Value& like, const std::string& op) {
  std::string type = scalar(like);
  return "({\n  ^bb0(%p: " + type + ", %q: " + type + "):\n    %s = stablehlo." + op + " %p, %q : " + type +
         "\n    stablehlo.return %s : " + type + "\n  })";
}

std::string comparison(const Value& like, const std::string& direction) {
  bool isFloat = like.type.isFloat();
  return "stablehlo.compare " + direction + ", %p, %q, " + (isFloat ? "FLOAT" : "SIGNED") + " : (" + scalar(like) +
         ", " + scalar(like) + ") -> tensor<i1>";
}

/// The neutral element of `op`, as a constant.
Value addNeutral(Program& program, const Value& like, const std::string& op) {
  std::string value = "0";
  bool isFloat = like.type.isFloat();
  if (op == "multiply") value = "1";
  int bits = std::stoi(like.type.element.substr(like.type.element.find_first_of("0123456789")));
  if (op == "maximum")
    value = isFloat ? (bits == 64                   ? "0xFFF0000000000000"
                       : bits == 32                 ? "0xFF800000"
                       : like.type.element == "f16" ? "0xFC00"
                                                    : "0xFF80")
                    : std::to_string(INT64_MIN >> (64 - bits));
  if (op == "minimum")
    value = isFloat ? (bits == 64                   ? "0x7FF0000000000000"
                       : bits == 32                 ? "0x7F800000"
                       : like.type.element == "f16" ? "0x7C00"
                                                    : "0x7F80")
                    : std::to_string(INT64_MAX >> (64 - bits));
  if (isFloat && value.size() == 1) value += ".0";
  return program.addLine("stablehlo.constant dense<" + value + "> : " + scalar(like), Type{{}, like.type.element});
}

Value getNumbers(Program& program, int64_t minRank, int64_t maxRank) {
  return program.getAny(
      [&](const Type& type) { return type.element != "i1" && type.rank() >= minRank && type.rank() <= maxRank; },
      [&] { return Type{program.chooseShape(minRank, maxRank), program.chooseNumber()}; });
}

struct Window {
  std::vector<int64_t> sizes, strides, baseDilations, dilations;
  std::vector<std::pair<int64_t, int64_t>> padding;
  Shape result;

  Window(Choices& choices, const Shape& shape, bool mayDilate) {
    for (int64_t size : shape) {
      bool isWhole = choices.chance(40);
      sizes.push_back(isWhole ? 1 : choices.pick({2, 3, 1, 5}));
      strides.push_back(isWhole ? 1 : choices.pick({1, 2, 1, 3}));
      baseDilations.push_back(mayDilate && choices.chance(10) ? 2 : 1);
      dilations.push_back(mayDilate && choices.chance(10) ? 2 : 1);
      auto pad = [&] { return isWhole ? 0 : static_cast<int64_t>(choices.below(sizes.back())); };
      padding.emplace_back(pad(), pad());
      int64_t reach = (sizes.back() - 1) * dilations.back() + 1;
      auto padded = [&] {
        return (size == 0 ? 0 : (size - 1) * baseDilations.back() + 1) + padding.back().first + padding.back().second;
      };
      if (padded() < reach) padding.back().second += reach - padded();
      result.push_back((padded() - reach) / strides.back() + 1);
    }
  }

  std::string print(bool withDilations) const {
    std::string pairs;
    for (auto [low, high] : padding) pairs += (pairs.empty() ? "" : ", ") + printList({low, high});
    std::string text = "<{window_dimensions = " + printArray(sizes) + ", window_strides = " + printArray(strides) +
                       ", padding = dense<[" + pairs + "]> : tensor<" + std::to_string(padding.size()) + "x2xi64>";
    if (withDilations)
      text += ", base_dilations = " + printArray(baseDilations) + ", window_dilations = " + printArray(dilations);
    return text + "}>";
  }
};

}  // namespace

void mlir::sgd::fuzz::addReduceWindow(Program& program) {
  Choices& choices = program.choices;
  Value input = getNumbers(program, 1, 4);
  std::string op = choices.pick({"add", "maximum", "minimum", "multiply"});
  Window window(choices, input.type.shape, /*mayDilate=*/true);
  Type type{window.result, input.type.element};
  if (type.size() > 6000) return;
  Value neutral = addNeutral(program, input, op);
  program.addOp("\"stablehlo.reduce_window\"(" + input.name + ", " + neutral.name + ") " + window.print(true) + " " +
                    region(input, op) + " : (" + input.type.print() + ", " + scalar(input) + ") -> " + type.print(),
                type);
}

void mlir::sgd::fuzz::addSelectAndScatter(Program& program) {
  Choices& choices = program.choices;
  Value input = program.getAny([](const Type& type) { return type.isFloat() && type.rank() >= 1 && type.rank() <= 3; },
                               [&] { return Type{program.chooseShape(1, 3), program.chooseFloat()}; });
  Window window(choices, input.type.shape, /*mayDilate=*/false);
  Value source = program.getOperand({window.result, input.type.element}), neutral = addNeutral(program, input, "add");
  std::string type = scalar(input);
  std::string select = "({\n  ^bb0(%p: " + type + ", %q: " + type +
                       "):\n    %s = " + comparison(input, choices.pick({"GE", "LE"})) +
                       "\n    stablehlo.return %s : tensor<i1>\n  }";
  std::string add = region(input, "add");
  program.addOp("\"stablehlo.select_and_scatter\"(" + input.name + ", " + source.name + ", " + neutral.name + ") " +
                    window.print(false) + " " + select + ", " + add.substr(1) + " : (" + input.type.print() + ", " +
                    source.type.print() + ", " + type + ") -> " + input.type.print(),
                input.type);
}

void mlir::sgd::fuzz::addSort(Program& program) {
  Choices& choices = program.choices;
  Value keys = getNumbers(program, 1, 3), others = program.getOperand({keys.type.shape, program.chooseNumber()});
  std::string key = scalar(keys), other = scalar(others);
  std::string text = "\"stablehlo.sort\"(" + keys.name + ", " + others.name +
                     ") <{dimension = " + std::to_string(choices.below(keys.type.rank())) +
                     " : i64, is_stable = true}> ({\n  ^bb0(%p: " + key + ", %q: " + key + ", %r: " + other +
                     ", %s: " + other + "):\n    %t = " + comparison(keys, choices.pick({"LT", "GT"})) +
                     "\n    stablehlo.return %t : tensor<i1>\n  }) : (" + keys.type.print() + ", " +
                     others.type.print() + ") -> (" + keys.type.print() + ", " + others.type.print() + ")";
  program.addLines(text, {keys.type, others.type});
}

void mlir::sgd::fuzz::addLoop(Program& program) {
  Choices& choices = program.choices;
  Value x = program.getAny([](const Type& type) { return type.isFloat(); },
                           [&] { return Type{program.chooseShape(0, 3), program.chooseFloat()}; });
  Value b = program.getOperand(x.type);
  auto constant = [&](int64_t value) {
    return program.addLine("stablehlo.constant dense<" + std::to_string(value) + "> : tensor<i32>", Type{{}, "i32"});
  };
  Value zero = constant(0), one = constant(1), count = constant(static_cast<int64_t>(choices.below(6)));
  std::string type = x.type.print(), body = "%y";
  std::string text = "stablehlo.while(%i = " + zero.name + ", %y = " + x.name + ") : tensor<i32>, " + type +
                     "\n  cond {\n    %c = stablehlo.compare LT, %i, " + count.name +
                     ", SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n" +
                     "    stablehlo.return %c : tensor<i1>\n  } do {\n    %n = stablehlo.add %i, " + one.name +
                     " : tensor<i32>\n";
  for (uint64_t i = 0, ops = 1 + choices.below(3); i < ops; ++i) {
    std::string next = "%b" + std::to_string(i);
    bool isUnary = choices.chance(30);
    text += "    " + next + " = stablehlo." +
            (isUnary ? choices.pick({"tanh", "negate"}) : choices.pick({"add", "multiply", "maximum"})) + " " + body +
            (isUnary ? "" : ", " + b.name) + " : " + type + "\n";
    body = next;
  }
  program.addLines(text + "    stablehlo.return %n, " + body + " : tensor<i32>, " + type + "\n  }",
                   {{{}, "i32"}, x.type});
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
                    " across dimensions = " + printList(dims) + " : (" + r.type.print() + ", " + scalar(r) + ") -> " +
                    type.print(),
                type);
}
