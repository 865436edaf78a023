// Ops that depend on the order of numbers: sort, top_k, argmax.
#include "tests/fuzz/families.h"
#include "tests/fuzz/stablehlo_text.h"

using namespace mlir::sgd::fuzz;

void mlir::sgd::fuzz::addSort(Program& program) {
  Choices& choices = program.choices;
  Value keys = getNumbers(program, 1, 3, choices.chance(30) ? Range{"special"} : Range{}),
        others = program.getOperand({keys.type.shape, program.chooseNumber()});
  std::string key = printScalar(keys), other = printScalar(others);
  std::string text = "\"stablehlo.sort\"(" + keys.name + ", " + others.name +
                     ") <{dimension = " + std::to_string(choices.below(keys.type.rank())) +
                     " : i64, is_stable = true}> ({\n  ^bb0(%p: " + key + ", %q: " + key + ", %r: " + other +
                     ", %s: " + other + "):\n    %t = " + printOrder(keys, choices.pick({"LT", "GT"})) +
                     "\n    stablehlo.return %t : tensor<i1>\n  }) : (" + keys.type.print() + ", " +
                     others.type.print() + ") -> (" + keys.type.print() + ", " + others.type.print() + ")";
  program.addLines(text, {keys.type, others.type});
}

void mlir::sgd::fuzz::addTopK(Program& program) {
  Choices& choices = program.choices;
  Value x = getNumbers(program, 1, 3, choices.chance(30) ? Range{"special"} : Range{});
  int64_t k = static_cast<int64_t>(choices.below(x.type.shape.back() + 1));
  Type values = x.type, indices{x.type.shape, "i32"};
  values.shape.back() = indices.shape.back() = k;
  program.addLines("chlo.top_k(" + x.name + ", k = " + std::to_string(k) + ") : " + x.type.print() + " -> (" +
                       values.print() + ", " + indices.print() + ")",
                   {values, indices});
}

void mlir::sgd::fuzz::addArgmax(Program& program) {
  Choices& choices = program.choices;
  Value x = getNumbers(program, 1, 3, choices.chance(30) ? Range{"special"} : Range{});
  auto dim = static_cast<int64_t>(choices.below(x.type.rank()));
  bool isMax = choices.chance(50);
  Value init = addNeutral(program, x, isMax ? "maximum" : "minimum"), zero = addConstant(program, "i32", "0");
  Type positions{x.type.shape, "i32"}, best = x.type;
  best.shape.erase(best.shape.begin() + dim);
  Type where{best.shape, "i32"};
  Value iota = program.addLine("stablehlo.iota dim = " + std::to_string(dim) + " : " + positions.print(), positions);
  // The body that JAX writes.
  std::string type = printScalar(x), kind = x.type.isFloat() ? "FLOAT" : x.type.isUnsigned() ? "UNSIGNED" : "SIGNED";
  std::string pair = " : (" + type + ", " + type + ") -> tensor<i1>";
  std::string body = "\n  reducer(%p: " + type + ", %q: " + type + ") (%i: tensor<i32>, %j: tensor<i32>) {\n" +
                     "    %0 = stablehlo.compare " + (isMax ? "GT" : "LT") + ", %p, %q, " + kind + pair + "\n" +
                     "    %1 = stablehlo.compare NE, %p, %p, " + kind + pair + "\n" +
                     "    %2 = stablehlo.or %0, %1 : tensor<i1>\n" + "    %3 = stablehlo.compare EQ, %p, %q, " + kind +
                     pair + "\n" +
                     "    %4 = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n" +
                     "    %5 = stablehlo.and %3, %4 : tensor<i1>\n    %6 = stablehlo.or %2, %5 : tensor<i1>\n" +
                     "    %7 = stablehlo.select %2, %p, %q : tensor<i1>, " + type + "\n" +
                     "    %8 = stablehlo.select %6, %i, %j : tensor<i1>, tensor<i32>\n" +
                     "    stablehlo.return %7, %8 : " + type + ", tensor<i32>\n  }";
  program.addLines("stablehlo.reduce(" + x.name + " init: " + init.name + "), (" + iota.name + " init: " + zero.name +
                       ") across dimensions = " + printList({dim}) + " : (" + x.type.print() + ", " +
                       positions.print() + ", " + type + ", tensor<i32>) -> (" + best.print() + ", " + where.print() +
                       ")" + body,
                   {best, where});
}
