// Pieces of drawings: texts that may hold anything, and axes.
#include "runtime/text/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sgd::text {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(Svg, TicksAreRound) {
  EXPECT_THAT(AxisTicks(0, 100), ElementsAre(0, 20, 40, 60, 80, 100));
  EXPECT_THAT(AxisTicks(0.13, 0.52), ElementsAre(DoubleNear(0.2, 1e-12), DoubleNear(0.3, 1e-12), DoubleNear(0.4, 1e-12),
                                                 DoubleNear(0.5, 1e-12)));
  EXPECT_TRUE(AxisTicks(1, 1).empty());
  EXPECT_THAT(AxisTicks(0, 100, 10), SizeIs(11));
  EXPECT_LE(AxisTicks(0, 1, 1000).size(), 40);
}

TEST(Svg, TimesHaveTheUnitOfTheirAxis) {
  EXPECT_EQ(TimeTick(2e-4, 9e-4), "200 us");
  EXPECT_EQ(TimeTick(2e-4, 0.5), "0.2 ms");
  EXPECT_EQ(TimeTick(0, 3), "0 s");
  EXPECT_EQ(TimeTick(5e-8, 1e-7), "50 ns");
}

TEST(Svg, TextsStayTexts) {
  EXPECT_EQ(SvgRect(1, 2, 3, 4, "#abcdef", "a<b>&\n\xff"),
            "<rect x=\"1.00\" y=\"2.0\" width=\"3.00\" height=\"4.0\" fill=\"#abcdef\"><title>a&lt;b&gt;&amp;?"
            "?</title>"
            "</rect>\n");
  EXPECT_EQ(SvgRect(1, 2, 3, 4, "#abcdef"),
            "<rect x=\"1.00\" y=\"2.0\" width=\"3.00\" height=\"4.0\" fill=\"#abcdef\"/>\n");
}

}  // namespace
}  // namespace sgd::text
