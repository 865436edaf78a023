// Checks that long names are cut in messages, and nothing else.
#include "runtime/artifact/short_message.h"

#include <gtest/gtest.h>

#include <string>

namespace sgd::artifact {
namespace {

TEST(ShortMessage, KeepsUsualOnes) {
  for (const std::string message :
       {"", "a", "model.sgda: has no program 'x'; expected one of: main\n", "two  spaces ", "a\nb\n"})
    EXPECT_EQ(ShortMessage(message), message);
  const std::string longest(300, 'n');
  EXPECT_EQ(ShortMessage(longest + " " + longest), longest + " " + longest);
}

TEST(ShortMessage, CutsLongWords) {
  const std::string name = "begin" + std::string(100'000, 'n') + "end";
  const std::string shown = ShortMessage("cannot open " + name + ": No such file\n");
  EXPECT_EQ(shown.substr(0, 22), "cannot open beginnnnnn");
  EXPECT_NE(shown.find("nnn...nnn"), std::string::npos);
  EXPECT_TRUE(shown.ends_with("nnnend: No such file\n")) << shown;
  EXPECT_LT(shown.size(), 400u);
}

TEST(ShortMessage, CutsLongTexts) {
  std::string words;
  for (int i = 0; i < 100'000; ++i) words += "word ";
  EXPECT_LT(ShortMessage(words).size(), 10'100u);
}

TEST(ShortMessage, CutsBetweenCharacters) {
  for (size_t shift = 0; shift < 3; ++shift) {
    std::string name(shift, 'n');
    for (int i = 0; i < 1000; ++i) name += "\u20ac";
    const std::string shown = ShortMessage(name);
    const size_t dots = shown.find("...");
    ASSERT_NE(dots, std::string::npos);
    EXPECT_EQ((dots - shift) % 3, 0u);
    EXPECT_EQ((shown.size() - dots - 3) % 3, 0u);
  }
}

}  // namespace
}  // namespace sgd::artifact
