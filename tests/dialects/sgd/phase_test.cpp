// Marks of phases and parts follow locations.
#include "dialects/sgd/phase.h"

#include "dialects/sgd/scope.h"
#include "dialects/sgd/source_line.h"
#include "gtest/gtest.h"

namespace mlir::sgd {
namespace {

class PhaseTest : public ::testing::Test {
 protected:
  Location at(llvm::StringRef name) {
    return NameLoc::get(StringAttr::get(&context, name), FileLineColLoc::get(&context, "gpt.py", 3, 1));
  }

  MLIRContext context;
};

TEST_F(PhaseTest, FollowsFromTransformationsOfJax) {
  EXPECT_EQ(getPhase(at("jit(step)/jvp(encoder)/dot_general")), Phase::Forward);
  EXPECT_EQ(getPhase(at("jit(step)/transpose(jvp(encoder))/dot_general")), Phase::Backward);
  EXPECT_EQ(getPhase(at("jit(step)/mul")), Phase::None);
  EXPECT_EQ(getPhase(UnknownLoc::get(&context)), Phase::None);
}

TEST_F(PhaseTest, TheOutermostMarkCounts) {
  Location forward = markPhase(at("a/b"), Phase::Forward), backward = markPhase(forward, Phase::Backward);
  EXPECT_EQ(getPhase(forward), Phase::Forward);
  EXPECT_EQ(getPhase(backward), Phase::Backward);
  Location weights = markPhase(at("jit(step)/transpose(jvp(x))/dot"), Phase::WeightGradients);
  EXPECT_EQ(getPhase(weights), Phase::WeightGradients);
  EXPECT_EQ(getPart(forward), std::nullopt);
  Location part = markPart(markPart(backward, {1, 1}), {3, 2});
  EXPECT_EQ(getPart(part), (PartOfBatch{3, 2}));
  EXPECT_EQ(getPhase(part), Phase::Backward);
}

TEST_F(PhaseTest, MarksHideNoSource) {
  Location marked = markPart(markPhase(at("encoder/mlp/add"), Phase::Backward), {0, 1});
  EXPECT_EQ(getSourceLine(marked), "gpt.py:3:1");
  EXPECT_EQ(getScope(marked).path, "encoder/mlp");
  Location fused = FusedLoc::get(&context, {marked, at("other/add")});
  EXPECT_EQ(getPhase(fused), Phase::Backward);
  EXPECT_EQ(getPart(fused), (PartOfBatch{0, 1}));
}

}  // namespace
}  // namespace mlir::sgd
