// Texts at and beyond the limits that keep MLIR's parser on its stack.
#include "frontends/text/text_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mlir::sgd {
namespace {

std::string nested(size_t levels) { return std::string(levels, '(') + std::string(levels, ')'); }

TEST(TextLimits, NestingUpToTheLimit) {
  EXPECT_FALSE(findTextFault(nested(kMaxNesting)));
  auto fault = findTextFault(nested(kMaxNesting + 1));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->position, kMaxNesting);
  EXPECT_THAT(fault->message, ::testing::HasSubstr(std::to_string(kMaxNesting)));
}

TEST(TextLimits, BracketsOneAfterAnotherAreNotNested) {
  std::string text;
  for (size_t i = 0; i < 2 * kMaxNesting; ++i) text += "()";
  EXPECT_FALSE(findTextFault(text));
}

TEST(TextLimits, DigitsUpToTheLimit) {
  const std::string digits(kMaxDigits, '7');
  EXPECT_FALSE(findTextFault("a = " + digits + " : i64"));
  auto fault = findTextFault("a = 1 + " + digits + "7 : i64");
  ASSERT_TRUE(fault);
  EXPECT_GE(fault->position, 8u);
  EXPECT_THAT(fault->message, ::testing::HasSubstr("digits"));
}

TEST(TextLimits, StringsAndCommentsHoldWhatTheyLike) {
  const std::string brackets(2 * kMaxNesting, '('), digits(2 * kMaxDigits, '1');
  EXPECT_FALSE(findTextFault("// " + brackets + digits + "\n"));
  EXPECT_FALSE(findTextFault("\"" + brackets + "\\\"" + digits + "\""));
}

TEST(TextLimits, AStringThatNeverEndsIsLeftToTheParser) { EXPECT_FALSE(findTextFault("\"" + std::string(5000, '('))); }

TEST(TextLimits, AliasesCountWithWhatTheyName) {
  // Each alias holds the one before twice: the last one would have 2^40 characters.
  std::string text = "#a0 = \"x\"\n";
  for (int i = 1; i <= 40; ++i) {
    const std::string before = "#a" + std::to_string(i - 1);
    text += "#a" + std::to_string(i) + " = [" + before + ", " + before + "]\n";
  }
  EXPECT_TRUE(findTextFault(text));
  EXPECT_FALSE(findTextFault("#a = [1, 2]\n#b = [#a, #a]\n"));
}

}  // namespace
}  // namespace mlir::sgd
