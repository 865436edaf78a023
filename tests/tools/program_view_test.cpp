// Names of JAX's pytrees are taken apart rightly, whatever their keys hold.
#include "tools/sgdrun/program_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sgd::sgdrun {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PathOf, TakesNamesApart) {
  EXPECT_THAT(PathOf("params['layer0']['w']"), ElementsAre("params", "layer0", "w"));
  EXPECT_THAT(PathOf("result['params']['layer0']['w']"), ElementsAre("params", "layer0", "w"));
  EXPECT_THAT(PathOf("opt_state[0].trace['b']"), ElementsAre("opt_state", "0", "trace", "b"));
  EXPECT_THAT(PathOf("result[1][\"a.b[c]\"]"), ElementsAre("1", "a.b[c]"));
  EXPECT_THAT(PathOf("x"), ElementsAre("x"));
  EXPECT_THAT(PathOf("result"), IsEmpty());
  EXPECT_THAT(PathOf(""), IsEmpty());
}

TEST(PathOf, EndsOnAnyText) {
  for (const char* text : {"[", "]", "[[", "a[", "a['", "a['b", "..", "[']", "a]['b']x"}) PathOf(text);
}

TEST(ShortName, IsForPeople) {
  EXPECT_EQ(ShortName("result['accuracy']"), "accuracy");
  EXPECT_EQ(ShortName("result[0]"), "0");
  EXPECT_EQ(ShortName("result"), "result");
}

}  // namespace
}  // namespace sgd::sgdrun
