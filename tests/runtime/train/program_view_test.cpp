// Names of JAX's pytrees in one word.
#include "runtime/train/program_view.h"

#include <gtest/gtest.h>

namespace sgd::train {
namespace {

TEST(ShortName, IsForPeople) {
  EXPECT_EQ(ShortName("result['accuracy']"), "accuracy");
  EXPECT_EQ(ShortName("result[0]"), "0");
  EXPECT_EQ(ShortName("result"), "result");
}

}  // namespace
}  // namespace sgd::train
