// Loops and branches, built from several ops, by value: against results worked out by hand or by the C library.
#include <gtest/gtest.h>

#include "tests/frontends/stablehlo/import_values.h"

namespace mlir::sgd {
namespace {

TEST_F(ImportValues, LoopsAreUnrolled) {
  // Counts down by 2 from 7 to above 0; the bound is carried unchanged.
  auto results = run(R"(func.func public @main() -> (tensor<i32>, tensor<4xi32>) {
    %seven = stablehlo.constant dense<7> : tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %four = stablehlo.constant dense<0> : tensor<4xi32>
    %0:4 = stablehlo.while(%i = %seven, %end = %zero, %sum = %zero, %seen = %four) : tensor<i32>, tensor<i32>, tensor<i32>, tensor<4xi32>
    cond {
      %1 = stablehlo.compare GT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %two = stablehlo.constant dense<2> : tensor<i32>
      %next = stablehlo.subtract %i, %two : tensor<i32>
      %1 = stablehlo.add %sum, %i : tensor<i32>
      %2 = stablehlo.divide %i, %two : tensor<i32>
      %3 = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
      %4 = stablehlo.dynamic_update_slice %seen, %3, %2 : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
      stablehlo.return %next, %end, %1, %4 : tensor<i32>, tensor<i32>, tensor<i32>, tensor<4xi32>
    }
    return %0#2, %0#3 : tensor<i32>, tensor<4xi32>
  })");
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].integers, (Integers{16}));
  EXPECT_EQ(results[1].integers, (Integers{1, 3, 5, 7}));
}

TEST_F(ImportValues, LoopsWithoutAnIteration) {
  auto results = run(R"(func.func public @main() -> tensor<ui8> {
    %i = stablehlo.constant dense<200> : tensor<ui8>
    %0 = stablehlo.while(%a = %i) : tensor<ui8> cond {
      %end = stablehlo.constant dense<100> : tensor<ui8>
      %1 = stablehlo.compare LT, %a, %end, UNSIGNED : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<ui8>
      %1 = stablehlo.add %a, %one : tensor<ui8>
      stablehlo.return %1 : tensor<ui8>
    }
    return %0 : tensor<ui8>
  })");
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].integers, (Integers{-56}));  // 200, signless
}

/// A case over three branches and an if, both by %i, which `definition` defines.
std::string chooseBy(const std::string& definition) {
  return "func.func public @main() -> (tensor<2xi32>, tensor<2xi32>) {\n" + definition + R"(
    %c = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    %0 = "stablehlo.case"(%i) ({
      stablehlo.return %c : tensor<2xi32>
    }, {
      %1 = stablehlo.add %c, %c : tensor<2xi32>
      stablehlo.return %1 : tensor<2xi32>
    }, {
      %1 = stablehlo.negate %c : tensor<2xi32>
      stablehlo.return %1 : tensor<2xi32>
    }) : (tensor<i32>) -> tensor<2xi32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %p = stablehlo.compare EQ, %i, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = "stablehlo.if"(%p) ({
      stablehlo.return %c : tensor<2xi32>
    }, {
      stablehlo.return %0 : tensor<2xi32>
    }) : (tensor<i1>) -> tensor<2xi32>
    return %0, %2 : tensor<2xi32>, tensor<2xi32>
  })";
}

TEST_F(ImportValues, BranchesAreChosen) {
  const std::pair<int64_t, Integers> cases[] = {{0, {1, 2}}, {1, {2, 4}}, {2, {-1, -2}}, {-3, {-1, -2}}, {9, {-1, -2}}};
  for (const auto& [index, expected] : cases) {
    const std::string number = "stablehlo.constant dense<" + std::to_string(index) + "> : tensor<i32>\n";
    // An index that import knows, and one that only the evaluation does.
    const std::string definitions[] = {"%i = " + number,
                                       "%n = " + number +
                                           "%zeros = stablehlo.iota dim = 0 : tensor<1xi32>\n"
                                           "%zero = stablehlo.reshape %zeros : (tensor<1xi32>) -> tensor<i32>\n"
                                           "%i = stablehlo.add %n, %zero : tensor<i32>"};
    for (const std::string& definition : definitions) {
      auto results = run(chooseBy(definition));
      ASSERT_EQ(results.size(), 2u);
      EXPECT_EQ(results[0].integers, expected) << index;
      EXPECT_EQ(results[1].integers, index == 1 ? (Integers{1, 2}) : expected) << index;
    }
  }
}

}  // namespace
}  // namespace mlir::sgd
