// The name that was probably meant.
#include "runtime/text/nearest_name.h"

#include <gtest/gtest.h>

#include <vector>

namespace sgd::text {
namespace {

std::string_view Nearest(std::string_view name, std::vector<std::string_view> names) {
  return NearestName(name, names);
}

TEST(NearestName, TakesTheFewestChanges) {
  EXPECT_EQ(Nearest("--reprot", {"--recipe", "--report", "--time"}), "--report");
  EXPECT_EQ(Nearest("Dense_O.kernel", {"Dense_1.kernel", "Dense_0.bias", "Dense_0.kernel"}), "Dense_1.kernel")
      << "the first of two";
  EXPECT_EQ(Nearest("MESH", {"rules", "mesh"}), "mesh") << "whatever their case";
  EXPECT_EQ(Nearest("data", {}), "");
}

TEST(NearestName, LeavesOtherNamesAlone) {
  EXPECT_EQ(Nearest("frobnicate", {"rules", "mesh"}), "");
  EXPECT_EQ(Nearest("z", {"x", "y"}), "") << "no letter is the same";
  EXPECT_EQ(Nearest("ab", {"ax"}), "ax");
  EXPECT_EQ(Nearest("", {"a"}), "");
}

}  // namespace
}  // namespace sgd::text
