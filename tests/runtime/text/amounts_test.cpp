// Amounts at the borders of their units.
#include "runtime/text/amounts.h"

#include <gtest/gtest.h>

namespace sgd::text {
namespace {

TEST(Amounts, BytesHaveTheUnitInWhichTheyAreBelow1024) {
  EXPECT_EQ(BytesText(0), "0 B");
  EXPECT_EQ(BytesText(1023), "1023 B");
  EXPECT_EQ(BytesText(1024), "1.00 KiB");
  EXPECT_EQ(BytesText((1 << 20) - 1), "1.00 MiB");  // not 1024.00 KiB
  EXPECT_EQ(BytesText(uint64_t{3} << 29), "1.50 GiB");
  EXPECT_EQ(BytesText(uint64_t{3} << 50), "3072.00 TiB");
}

TEST(Amounts, SecondsAreRoundedBeforeTheUnitIsChosen) {
  EXPECT_EQ(SecondsText(0), "0 us");
  EXPECT_EQ(SecondsText(14.8e-6), "14.8 us");
  EXPECT_EQ(SecondsText(999.9e-6), "1 ms");  // not 1e+03 us
  EXPECT_EQ(SecondsText(0.25), "250 ms");
  EXPECT_EQ(SecondsText(0.9999), "0.9999 s");
  EXPECT_EQ(SecondsText(4500), "4500 s");
  EXPECT_EQ(SecondsText(360000), "100 h");
}

TEST(Amounts, CountsHaveThreeDigits) {
  EXPECT_EQ(CountText(0), "0");
  EXPECT_EQ(CountText(950), "950");
  EXPECT_EQ(CountText(999.9), "1k");  // not 1e+03
  EXPECT_EQ(CountText(6400), "6.4k");
  EXPECT_EQ(CountText(1.2e6), "1.2M");
  EXPECT_EQ(CountText(-2.5e9), "-2.5G");
}

}  // namespace
}  // namespace sgd::text
