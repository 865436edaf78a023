// Readings of a made-up /proc/stat.
#include "runtime/launch/core_load.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace sgd::launch {
namespace {

std::map<int, CoreTime> Read(const std::string& text) {
  const std::string path = testing::TempDir() + "/core_load_stat";
  std::ofstream(path) << text;
  return ReadCoreTimes(path);
}

TEST(CoreLoad, ReadsTheTimesOfEachCore) {
  const std::map<int, CoreTime> times = Read(
      "cpu  9 9 9 9 9 9 9 9 9 9\n"
      "cpu0 10 1 2 100 7 0 3 4 500 600\n"
      "cpu12 1 0 0 9 0 0 0 0 0 0\n"
      "intr 5 6\n");
  ASSERT_EQ(times.size(), 2);
  EXPECT_EQ(times.at(0).idle, 107);
  EXPECT_EQ(times.at(0).total, 127) << "time of guests is in that of users";
  EXPECT_EQ(times.at(12).total, 10);
  EXPECT_TRUE(ReadCoreTimes("/nowhere").empty());
  EXPECT_FALSE(ReadCoreTimes().empty());
}

TEST(CoreLoad, AddsUpIdleTime) {
  const auto before = Read("cpu0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0\ncpu2 5 0 0 5 0 0 0 0\n");
  const auto after = Read("cpu0 100 0 0 0 0 0 0 0\ncpu1 25 0 0 75 0 0 0 0\ncpu2 5 0 0 5 0 0 0 0\n");
  EXPECT_DOUBLE_EQ(IdleCores(before, after, {0}), 0);
  EXPECT_DOUBLE_EQ(IdleCores(before, after, {0, 1}), 0.75);
  EXPECT_DOUBLE_EQ(IdleCores(before, after, {2}), 1) << "its time has not gone on";
  EXPECT_DOUBLE_EQ(IdleCores(before, after, {1, 7}), 1.75) << "one is not listed";
}

}  // namespace
}  // namespace sgd::launch
