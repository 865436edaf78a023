// JAX's names are taken apart rightly, whatever their keys hold.
#include "runtime/artifact/tensor_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sgd::artifact {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

PathPart Key(const char* text) { return {text, false}; }
PathPart Index(const char* text) { return {text, true}; }

TEST(TensorPath, OfArguments) {
  EXPECT_THAT(ArgumentPath("params['layer0']['w']"), ElementsAre(Key("params"), Key("layer0"), Key("w")));
  EXPECT_THAT(ArgumentPath("opt_state[0].trace['b']"),
              ElementsAre(Key("opt_state"), Index("0"), Key("trace"), Key("b")));
  EXPECT_THAT(ArgumentPath("state.params['h0']['kernel'].value"),
              ElementsAre(Key("state"), Key("params"), Key("h0"), Key("kernel"), Key("value")));
  EXPECT_THAT(ArgumentPath("x"), ElementsAre(Key("x")));
  EXPECT_THAT(ArgumentPath("result"), ElementsAre(Key("result")));
  EXPECT_THAT(ArgumentPath("opt[<flat index 3>]"), ElementsAre(Key("opt"), Index("<flat index 3>")));
}

TEST(TensorPath, OfResultsInNewAndOldTexts) {
  EXPECT_THAT(ResultPath("result['params']['w']"), ElementsAre(Key("params"), Key("w")));
  EXPECT_THAT(ResultPath("result[0].params['w']"), ElementsAre(Index("0"), Key("params"), Key("w")));
  EXPECT_THAT(ResultPath("[0].params['w']"), ElementsAre(Index("0"), Key("params"), Key("w")));
  EXPECT_THAT(ResultPath("['loss']"), ElementsAre(Key("loss")));
  EXPECT_THAT(ResultPath(".step"), ElementsAre(Key("step")));
  EXPECT_THAT(ResultPath("result"), IsEmpty());
  EXPECT_THAT(ResultPath(""), IsEmpty());
  EXPECT_THAT(ResultPath("results[0]"), ElementsAre(Key("results"), Index("0")));
}

TEST(TensorPath, KeysHoldAnything) {
  EXPECT_THAT(ArgumentPath("p[\"a.b[c]\"]"), ElementsAre(Key("p"), Key("a.b[c]")));
  EXPECT_THAT(ArgumentPath("p['a/b:c,d']['0'][0]"), ElementsAre(Key("p"), Key("a/b:c,d"), Key("0"), Index("0")));
  EXPECT_THAT(ArgumentPath("p['it\\'s']"), ElementsAre(Key("p"), Key("it\\'s")));
  EXPECT_THAT(ArgumentPath("p['a']b']['c']"), ElementsAre(Key("p"), Key("a']b"), Key("c")));
}

TEST(TensorPath, EndsOnAnyText) {
  for (const char* text : {"[", "]", "[[", "a[", "a['", "a['b", "..", "[']", "a]['b']x", "['\\"}) {
    ArgumentPath(text);
    ResultPath(text);
  }
}

TEST(TensorPath, IsWrittenAgain) {
  for (const char* text : {"params['w'][0]", "x", "[0]['w']"}) EXPECT_EQ(PathText(ArgumentPath(text)), text);
}

}  // namespace
}  // namespace sgd::artifact
