// The edges of elementwise ops, where C++ says nothing or something else.
#include "reference/scalar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace mlir::sgd::reference {
namespace {

class Scalars : public ::testing::Test {
 protected:
  Scalars() : context(MLIRContext::Threading::DISABLED) {}
  Type integer(unsigned bits) { return IntegerType::get(&context, bits); }

  MLIRContext context;
};

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
const double kNan = std::nan("");
const double kInfinity = std::numeric_limits<double>::infinity();

TEST_F(Scalars, FloatsBecomeTheNearestIntegerOfTheType) {
  EXPECT_EQ(toInteger(2.9, integer(8), true), 2);
  EXPECT_EQ(toInteger(-2.9, integer(8), true) & 0xff, 0xfe);  // towards zero
  EXPECT_EQ(toInteger(200, integer(8), true), 127);
  EXPECT_EQ(toInteger(200, integer(8), false), 200);
  EXPECT_EQ(toInteger(-1, integer(8), false), 0);
  EXPECT_EQ(toInteger(kInfinity, integer(32), true), std::numeric_limits<int32_t>::max());
  EXPECT_EQ(toInteger(-kInfinity, integer(64), true), kLeast);
  EXPECT_EQ(toInteger(1e30, integer(64), true), kMost);
  for (unsigned bits : {8u, 16u, 32u, 64u}) EXPECT_EQ(toInteger(kNan, integer(bits), bits == 8), 0);
}

TEST_F(Scalars, DivisionIsTotal) {
  EXPECT_EQ(evaluateBinary("divsi", kLeast, -1, integer(64)), kLeast);  // wraps around
  EXPECT_EQ(evaluateBinary("remsi", kLeast, -1, integer(64)), 0);
  for (const char* name : {"divsi", "divui"}) EXPECT_EQ(evaluateBinary(name, 7, 0, integer(32)), -1) << name;
  for (const char* name : {"remsi", "remui"}) EXPECT_EQ(evaluateBinary(name, 7, 0, integer(32)), 7) << name;
  EXPECT_EQ(evaluateBinary("divsi", -7, 2, integer(32)), -3);
  EXPECT_EQ(evaluateBinary("remsi", -7, 2, integer(32)), -1);  // the sign of the dividend
  EXPECT_EQ(evaluateBinary("divui", -1, 2, integer(8)), 127);
}

TEST_F(Scalars, ShiftsBeyondTheWidthLeaveNothingOrTheSign) {
  EXPECT_EQ(evaluateBinary("shli", 1, 8, integer(8)), 0);
  EXPECT_EQ(evaluateBinary("shrui", -1, 7, integer(8)), 1);
  EXPECT_EQ(evaluateBinary("shrui", -1, 64, integer(64)), 0);
  EXPECT_EQ(evaluateBinary("shrsi", -128, 100, integer(8)), -1);
  EXPECT_EQ(evaluateBinary("shrsi", -128, -1, integer(8)), -1);  // 255 places
  EXPECT_EQ(evaluateBinary("shrsi", 64, 100, integer(8)), 0);
}

TEST_F(Scalars, ASetBitIsMinusOneWhereSignsCount) {
  EXPECT_EQ(evaluateBinary("maxsi", 1, 0, integer(1)), 0);
  EXPECT_EQ(evaluateBinary("minsi", 1, 0, integer(1)), 1);
  EXPECT_EQ(evaluateBinary("maxui", 1, 0, integer(1)), 1);
  EXPECT_TRUE(compare(arith::CmpIPredicate::slt, 1, 0, integer(1)));
  EXPECT_FALSE(compare(arith::CmpIPredicate::ult, 1, 0, integer(1)));
  EXPECT_TRUE(compare(arith::CmpIPredicate::ult, 1, -1, integer(8)));
  EXPECT_TRUE(compare(arith::CmpIPredicate::sgt, 1, -1, integer(8)));
}

// An ordered predicate is false of NaN, an unordered one true; of numbers both say the same.
TEST_F(Scalars, PredicatesOfNan) {
  using P = arith::CmpFPredicate;
  const std::pair<P, P> pairs[] = {{P::OEQ, P::UEQ},         {P::OGT, P::UGT},       {P::OGE, P::UGE},
                                   {P::OLT, P::ULT},         {P::OLE, P::ULE},       {P::ONE, P::UNE},
                                   {P::AlwaysFalse, P::UNO}, {P::ORD, P::AlwaysTrue}};
  for (auto [ordered, unordered] : pairs) {
    for (auto [x, y] : {std::pair(kNan, 1.0), std::pair(1.0, kNan), std::pair(kNan, kNan)}) {
      EXPECT_FALSE(compare(ordered, x, y)) << stringifyEnum(ordered).str();
      EXPECT_TRUE(compare(unordered, x, y)) << stringifyEnum(unordered).str();
    }
    for (auto [x, y] : {std::pair(1.0, 2.0), std::pair(2.0, 1.0), std::pair(1.0, 1.0), std::pair(-0.0, 0.0)})
      EXPECT_EQ(compare(ordered, x, y), compare(unordered, x, y)) << stringifyEnum(ordered).str();
  }
}

TEST_F(Scalars, MaximumKeepsNanAndMaxnumDoesNot) {
  EXPECT_TRUE(std::isnan(*evaluateBinary("maximumf", kNan, 1.0)));
  EXPECT_TRUE(std::isnan(*evaluateBinary("minimumf", 1.0, kNan)));
  EXPECT_EQ(evaluateBinary("maxnumf", kNan, 1.0), 1.0);
  EXPECT_EQ(evaluateBinary("minnumf", 1.0, kNan), 1.0);
}

TEST_F(Scalars, UnknownOpsHaveNoValue) {
  EXPECT_FALSE(evaluateUnary("frobnicate", 1.0));
  EXPECT_FALSE(evaluateBinary("exp", 1.0, 1.0));
  EXPECT_FALSE(evaluateBinary("addf", 1, 1, integer(32)));
}

}  // namespace
}  // namespace mlir::sgd::reference
