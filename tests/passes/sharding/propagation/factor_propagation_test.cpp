// One propagation step: candidates, conflicts, directions.
#include "passes/sharding/propagation/factor_propagation.h"

#include <gtest/gtest.h>

namespace mlir::sgd {
namespace {

const AxisPart kX{0, 1, 4}, kY{1, 1, 2}, kXMajor{0, 1, 2};

FactorAxes factorOf(AxisParts axes, bool isOpen = true) {
  FactorAxes factor;
  factor.axes = std::move(axes);
  factor.isPresent = true;
  factor.isOpen = isOpen;
  factor.isMinorMost = true;
  return factor;
}

TensorFactors tensorOf(std::initializer_list<FactorAxes> factors) {
  TensorFactors tensor;
  tensor.factors.append(factors.begin(), factors.end());
  return tensor;
}

/// Runs one step over `tensors` whose factors all have size 16 unless given.
struct Step {
  llvm::SmallVector<TensorFactors, 4> tensors;
  unsigned numOperands;
  llvm::SmallVector<int64_t> sizes = llvm::SmallVector<int64_t>(4, 16);
  llvm::SmallVector<Direction> directions = llvm::SmallVector<Direction>(4, Direction::Both);
  bool isElementwise = false;

  OpFactors op() {
    size_t count = tensors[0].factors.size();
    return {llvm::ArrayRef(sizes).take_front(count), llvm::ArrayRef(directions).take_front(count), tensors, numOperands,
            isElementwise};
  }
  const AxisParts& axes(unsigned tensor, unsigned factor) { return tensors[tensor].factors[factor].axes; }
};

TEST(FactorPropagationTest, CandidatesStopAtTheFirstDisagreement) {
  struct Case {
    AxisParts a, b, expected;
  };
  for (const Case& c : std::vector<Case>{{{kX}, {}, {kX}},
                                         {{kX}, {kX, kY}, {kX, kY}},
                                         {{kX}, {kY}, {}},
                                         {{kX, kY}, {kXMajor}, {kX, kY}},
                                         {{kXMajor, kY}, {kX}, {kXMajor}}}) {
    Step step{{tensorOf({factorOf(c.a)}), tensorOf({factorOf(c.b)})}, 1};
    EXPECT_EQ(compatibleMajorAxes(step.op(), 0, Direction::Both), c.expected);
    Step swapped{{tensorOf({factorOf(c.b)}), tensorOf({factorOf(c.a)})}, 1};
    EXPECT_EQ(compatibleMajorAxes(swapped.op(), 0, Direction::Both), c.expected);
  }
}

TEST(FactorPropagationTest, DirectionSaysWhoMayLengthenTheCandidate) {
  Step step{{tensorOf({factorOf({kX})}), tensorOf({factorOf({})})}, 1};
  EXPECT_EQ(compatibleMajorAxes(step.op(), 0, Direction::Forward), AxisParts{kX});
  EXPECT_TRUE(compatibleMajorAxes(step.op(), 0, Direction::Backward).empty());
  EXPECT_TRUE(compatibleMajorAxes(step.op(), 0, Direction::None).empty());
}

TEST(FactorPropagationTest, BothModesSpreadWhatNobodyObjectsTo) {
  for (ConflictMode mode : {ConflictMode::Basic, ConflictMode::Aggressive}) {
    Step step{{tensorOf({factorOf({kX})}), tensorOf({factorOf({})}), tensorOf({factorOf({})})}, 2};
    EXPECT_TRUE(propagateFactors(step.op(), mode));
    EXPECT_EQ(step.axes(1, 0), AxisParts{kX});
    EXPECT_EQ(step.axes(2, 0), AxisParts{kX});
    EXPECT_FALSE(propagateFactors(step.op(), mode));
    EXPECT_TRUE(isSettled(step.op()));
  }
}

TEST(FactorPropagationTest, AClosedTensorObjectsInBasicModeAndIsLeftOutInAggressiveMode) {
  auto make = [] {
    return Step{{tensorOf({factorOf({kX})}), tensorOf({factorOf({}, /*isOpen=*/false)}), tensorOf({factorOf({})})}, 2};
  };
  Step basic = make();
  EXPECT_FALSE(propagateFactors(basic.op(), ConflictMode::Basic));
  Step aggressive = make();
  EXPECT_TRUE(propagateFactors(aggressive.op(), ConflictMode::Aggressive));
  EXPECT_TRUE(aggressive.axes(1, 0).empty());
  EXPECT_EQ(aggressive.axes(2, 0), AxisParts{kX});
}

TEST(FactorPropagationTest, AxesThatDoNotDivideSpreadToMinorMostFactorsAlone) {
  for (ConflictMode mode : {ConflictMode::Basic, ConflictMode::Aggressive}) {
    for (int64_t size : {6, 12}) {
      Step step{{tensorOf({factorOf({kY, kX})}), tensorOf({factorOf({})})}, 1};
      step.sizes[0] = size;
      EXPECT_TRUE(propagateFactors(step.op(), mode));
      EXPECT_EQ(step.axes(1, 0), (AxisParts{kY, kX}));
      step.tensors[1] = tensorOf({factorOf({})});
      step.tensors[1].factors[0].isMinorMost = false;
      EXPECT_TRUE(propagateFactors(step.op(), mode));
      EXPECT_EQ(step.axes(1, 0), size == 6 ? AxisParts{kY} : (AxisParts{kY, kXMajor}));
    }
  }
}

TEST(FactorPropagationTest, AnAxisShardsATensorOnce) {
  // lhs has factor 0 over x, rhs factor 1 over x; the result has both.
  auto make = [] {
    return Step{{tensorOf({factorOf({kX}), FactorAxes()}), tensorOf({FactorAxes(), factorOf({kX})}),
                 tensorOf({factorOf({}), factorOf({})})},
                2};
  };
  Step basic = make();
  EXPECT_FALSE(propagateFactors(basic.op(), ConflictMode::Basic));
  Step aggressive = make();
  EXPECT_TRUE(propagateFactors(aggressive.op(), ConflictMode::Aggressive));
  EXPECT_EQ(aggressive.axes(2, 0), AxisParts{kX});
  EXPECT_TRUE(aggressive.axes(2, 1).empty());
}

TEST(FactorPropagationTest, TheLargerSourceClaimsAnAxisFirst) {
  // As above, but rhs also has a third factor and so is larger.
  Step step{
      {tensorOf({factorOf({kX}), FactorAxes(), FactorAxes()}), tensorOf({FactorAxes(), factorOf({kX}), factorOf({})}),
       tensorOf({factorOf({}), factorOf({}), FactorAxes()})},
      2};
  EXPECT_TRUE(propagateFactors(step.op(), ConflictMode::Aggressive));
  EXPECT_TRUE(step.axes(2, 0).empty());
  EXPECT_EQ(step.axes(2, 1), AxisParts{kX});
}

TEST(FactorPropagationTest, ReplicatedAndUnreducedAxesAreNotUsed) {
  for (ConflictMode mode : {ConflictMode::Basic, ConflictMode::Aggressive}) {
    Step step{{tensorOf({factorOf({kX})}), tensorOf({factorOf({})})}, 1};
    step.tensors[1].replicated = {kX};
    EXPECT_FALSE(propagateFactors(step.op(), mode));
    step.tensors[1].replicated = {};
    step.tensors[1].unreduced = {{0, 2, 2}};
    EXPECT_TRUE(propagateFactors(step.op(), mode));
    EXPECT_EQ(step.axes(1, 0), AxisParts{kXMajor});
  }
}

TEST(FactorPropagationTest, ElementwiseOperandsTakeNoMoreThanTheResult) {
  Step step{{tensorOf({factorOf({kX})}), tensorOf({factorOf({})}), tensorOf({factorOf({}, /*isOpen=*/false)})}, 2};
  step.isElementwise = true;
  EXPECT_FALSE(propagateFactors(step.op(), ConflictMode::Aggressive));
}

}  // namespace
}  // namespace mlir::sgd
