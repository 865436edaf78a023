// The one comparison of alternatives, and diagnostics that wait for it.
#include "compiler/search/alternatives.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mlir::sgd {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PlanCost, WhatFitsComesFirstThenTimeThenBytes) {
  const PlanCost fast{.peak = 90, .seconds = 1}, slow{.peak = 50, .seconds = 2}, large{.peak = 200, .seconds = 0.5};
  EXPECT_TRUE(fast.isBetterThan(slow, 100));
  EXPECT_FALSE(slow.isBetterThan(fast, 100));
  EXPECT_TRUE(slow.isBetterThan(large, 100)) << "fits";
  EXPECT_TRUE(slow.isBetterThan(fast, 60)) << "fits";
  EXPECT_TRUE(slow.isBetterThan(fast, 10)) << "is smaller";
  EXPECT_TRUE(large.isBetterThan(fast, std::nullopt));
  EXPECT_TRUE(fast.fits(90));
  EXPECT_FALSE(fast.fits(89));
}

/// No two costs are better than each other, whatever the limit is, and none is better than itself.
TEST(PlanCost, IsAStrictOrder) {
  std::vector<PlanCost> costs;
  for (uint64_t peak : {1, 2, 3})
    for (double seconds : {1.0, 2.0, 3.0}) costs.push_back({peak, seconds});
  for (uint64_t limit : {0, 1, 2, 3})
    for (const PlanCost& one : costs)
      for (const PlanCost& other : costs) {
        EXPECT_FALSE(one.isBetterThan(other, limit) && other.isBetterThan(one, limit));
        for (const PlanCost& third : costs)
          if (one.isBetterThan(other, limit) && other.isBetterThan(third, limit))
            EXPECT_TRUE(one.isBetterThan(third, limit));
      }
}

TEST(PlanCost, GainMustBeAsLargeAsAskedFor) {
  const PlanCost first{.peak = 1, .seconds = 100}, second{.peak = 1, .seconds = 99.5};
  EXPECT_TRUE(second.isBetterThan(first, std::nullopt));
  EXPECT_FALSE(second.isBetterThan(first, std::nullopt, 0.99));
}

TEST(HeldDiagnostics, AreEmittedOnceAndInOrder) {
  MLIRContext context;
  std::vector<std::string> seen;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic& diagnostic) {
    seen.push_back(diagnostic.str());
    return success();
  });
  HeldDiagnostics held(&context, [&] {
    emitRemark(UnknownLoc::get(&context)) << "chosen by " << std::string("name");
    emitWarning(UnknownLoc::get(&context)) << "with " << 2 << " parts";
  });
  HeldDiagnostics dropped(&context, [&] { emitError(UnknownLoc::get(&context)) << "cannot be lowered"; });
  EXPECT_THAT(seen, IsEmpty());
  EXPECT_FALSE(held.empty());
  held.emit(&context);
  EXPECT_THAT(seen, ElementsAre("chosen by name", "with 2 parts"));
  EXPECT_TRUE(held.empty());
}

/// The file is that of the program whose pass emitted the diagnostic, not of the one that runs when it is printed.
TEST(HeldDiagnostics, KeepTheFileTheyWereEmittedWith) {
  MLIRContext context;
  std::vector<std::string> files;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic& diagnostic) {
    if (auto location = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
      files.push_back(location.getFilename().str());
    return success();
  });
  FileOfDiagnostics later(&context, "later.mlir");
  HeldDiagnostics held(&context, [&] {
    FileOfDiagnostics own(&context, "own.mlir");
    emitRemark(UnknownLoc::get(&context)) << "chosen";
    emitRemark(NameLoc::get(StringAttr::get(&context, "x"))) << "has a name and no file";
  });
  held.emit(&context);
  EXPECT_THAT(files, ElementsAre("own.mlir", "own.mlir"));
}

}  // namespace
}  // namespace mlir::sgd
