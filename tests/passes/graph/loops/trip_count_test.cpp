// Trips of loops that count, against running them.
#include "passes/graph/loops/trip_count.h"

#include <gtest/gtest.h>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

using Predicate = arith::CmpIPredicate;

bool holds(Predicate predicate, int64_t a, int64_t b) {
  return arith::applyCmpPredicate(predicate, APInt(64, a, true), APInt(64, b, true));
}

/// Runs a loop over integers of [-8, 7]; nothing if its counter overflows or the loop does not end.
std::optional<int64_t> run(Predicate predicate, int64_t value, int64_t bound, int64_t step) {
  int64_t trips = 0;
  for (; holds(predicate, value, bound); ++trips) {
    value += step;
    if (value < -8 || value > 7 || trips > 16) return std::nullopt;
  }
  return trips;
}

TEST(TripCount, IsThatOfRunningTheLoop) {
  for (Predicate predicate :
       {Predicate::eq, Predicate::ne, Predicate::slt, Predicate::sle, Predicate::sgt, Predicate::sge})
    for (int64_t begin = -8; begin < 8; ++begin)
      for (int64_t bound = -8; bound < 8; ++bound)
        for (int64_t step = -9; step < 10; ++step)
          EXPECT_EQ(countTrips({begin, step, -8, 7}, predicate, bound), run(predicate, begin, bound, step))
              << stringifyCmpIPredicate(predicate).str() << " from " << begin << " by " << step << " to " << bound;
}

TEST(TripCount, OfWideIntegersDoesNotOverflow) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(countTrips({0, 1, kLeast, kMost}, Predicate::slt, kMost), kMost);
  EXPECT_EQ(countTrips({0, 1, kLeast, kMost}, Predicate::sle, kMost), std::nullopt);
  EXPECT_EQ(countTrips({kLeast, 1, kLeast, kMost}, Predicate::slt, kMost), std::nullopt);
}

/// The trips of a loop from `begin` by 2 with this condition.
std::optional<int64_t> find(StringRef begin, StringRef condition) {
  MLIRContext context;
  context.loadDialect<arith::ArithDialect, func::FuncDialect, SgdDialect>();
  std::string text = (R"(
    func.func @main(%unknown: tensor<i32>) -> tensor<i32> {
      %begin = arith.constant dense<)" +
                      begin + R"(> : tensor<i32>
      %eight = arith.constant dense<8> : tensor<i32>
      %0:3 = sgd.while (%begin, %eight, %unknown) while {
      ^bb0(%i: tensor<i32>, %n: tensor<i32>, %u: tensor<i32>):
        %c = arith.constant dense<7> : tensor<1xi32>
        %r = sgd.reshape %i : tensor<i32> -> tensor<1xi32>
        )" + condition +
                      R"(
      } do {
      ^bb0(%i: tensor<i32>, %n: tensor<i32>, %u: tensor<i32>):
        %two = arith.constant dense<2> : tensor<i32>
        %next = arith.addi %i, %two : tensor<i32>
        sgd.yield %next, %n, %u : tensor<i32>, tensor<i32>, tensor<i32>
      } : (tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>)
      return %0#0 : tensor<i32>
    })")
                         .str();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module) << text;
  std::optional<int64_t> trips;
  module->walk([&](WhileOp loop) { trips = findTrips(loop); });
  return trips;
}

TEST(TripCount, OfLoopsComparesACounterWithAConstant) {
  const char* yield = "\n sgd.yield %t : tensor<i1>";
  auto test = [&](StringRef compare) { return (compare + yield).str(); };
  EXPECT_EQ(find("0", test("%t = arith.cmpi slt, %i, %n : tensor<i32>")), 4);
  EXPECT_EQ(find("0", test("%t = arith.cmpi sgt, %n, %i : tensor<i32>")), 4);
  EXPECT_EQ(find("1", test("%t = arith.cmpi sge, %n, %i : tensor<i32>")), 4);
  EXPECT_EQ(find("9", test("%t = arith.cmpi sle, %i, %n : tensor<i32>")), 0);
  EXPECT_EQ(find("0",
                 "%s = arith.cmpi sle, %r, %c : tensor<1xi32>\n %t = sgd.reshape %s : tensor<1xi1> -> tensor<i1>\n "
                 "sgd.yield %t : tensor<i1>"),
            4);
  EXPECT_EQ(find("1", test("%t = arith.cmpi ne, %i, %n : tensor<i32>")), std::nullopt);
  EXPECT_EQ(find("0", test("%t = arith.cmpi slt, %i, %u : tensor<i32>")), std::nullopt);
  EXPECT_EQ(find("0", test("%t = arith.cmpi slt, %u, %n : tensor<i32>")), std::nullopt);
  EXPECT_EQ(find("0", test("%t = arith.cmpi ult, %i, %n : tensor<i32>")), std::nullopt);
  EXPECT_EQ(find("0", test("%t = arith.cmpi slt, %i, %i : tensor<i32>")), std::nullopt);
}

}  // namespace
