// Every bit of a container is covered: exhaustive over bytes and lengths of a small file.
#include "runtime/artifact/container.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sgd::artifact {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Bytes ViewOf(const std::string& text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

std::string Text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

std::string SmallFile() {
  const std::string program = "a program of odd length", kernels = "kernels!", constants = "constants";
  return *BuildContainer({ViewOf(program), ViewOf(kernels), ViewOf(constants)});
}

std::string ErrorOf(const std::string& file) {
  absl::StatusOr<Sections> sections = OpenContainer(ViewOf(file));
  return sections.ok() ? "" : std::string(sections.status().message());
}

TEST(Container, RoundTrip) {
  const std::string file = SmallFile();
  absl::StatusOr<Sections> sections = OpenContainer(ViewOf(file));
  ASSERT_TRUE(sections.ok()) << sections.status();
  EXPECT_EQ(Text(sections->program), "a program of odd length");
  EXPECT_EQ(Text(sections->kernels), "kernels!");
  EXPECT_EQ(Text(sections->constants), "constants");
  EXPECT_EQ((sections->kernels.data() - ViewOf(file).data()) % kPageSize, 0u);
  EXPECT_EQ((sections->constants.data() - ViewOf(file).data()) % kPageSize, 0u);
  EXPECT_EQ(HexHash(sections->hash).size(), 64u);
}

TEST(Container, SameSectionsSameBytes) { EXPECT_EQ(SmallFile(), SmallFile()); }

TEST(Container, EmptySectionsAreLeftOut) {
  const std::string program = "p";
  const std::string file = *BuildContainer({ViewOf(program), {}, {}});
  EXPECT_LT(file.size(), 200u);
  absl::StatusOr<Sections> sections = OpenContainer(ViewOf(file));
  ASSERT_TRUE(sections.ok()) << sections.status();
  EXPECT_TRUE(sections->kernels.empty());
  EXPECT_TRUE(sections->constants.empty());
}

TEST(Container, EveryFlippedByteIsFound) {
  std::string file = SmallFile();
  for (size_t i = 0; i < file.size(); ++i) {
    const uint8_t flip = static_cast<uint8_t>(1u << (i % 8));
    file[i] = static_cast<char>(file[i] ^ flip);
    EXPECT_THAT(ErrorOf(file), AllOf(Not(""), Not(HasSubstr("\n")))) << "byte " << i;
    file[i] = static_cast<char>(file[i] ^ flip);
  }
  EXPECT_EQ(ErrorOf(file), "");
}

TEST(Container, EveryFlippedBitOfTheHeadIsFound) {
  std::string file = SmallFile();
  for (size_t bit = 0; bit < (sizeof(FileHeader) + 3 * sizeof(SectionEntry)) * 8; ++bit) {
    file[bit / 8] = static_cast<char>(file[bit / 8] ^ (1 << bit % 8));
    EXPECT_NE(ErrorOf(file), "") << "bit " << bit;
    file[bit / 8] = static_cast<char>(file[bit / 8] ^ (1 << bit % 8));
  }
}

TEST(Container, EveryTruncationIsFound) {
  const std::string file = SmallFile();
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_NE(ErrorOf(file.substr(0, size)), "") << "size " << size;
  }
  EXPECT_NE(ErrorOf(file + '\0'), "");
}

TEST(Container, ErrorsSayWhatIsDamaged) {
  const std::string file = SmallFile();
  const auto flipped = [&](size_t at) {
    std::string damaged = file;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    return ErrorOf(damaged);
  };
  EXPECT_EQ(flipped(0),
            "is not an sgd artifact: its magic number is another; expected a file that sgdc wrote; give its path");
  EXPECT_THAT(flipped(8), HasSubstr("has format version 3; expected version 2; compile the model again"));
  EXPECT_THAT(flipped(30), HasSubstr("damaged header or section table"));
  EXPECT_THAT(flipped(70), HasSubstr("damaged header or section table"));
  EXPECT_THAT(
      flipped(file.find("a program")),
      HasSubstr("damaged section 'program' (SHA-256 differs); expected the file as it was written; copy it again"));
  EXPECT_THAT(flipped(file.find("kernels!")), HasSubstr("damaged section 'kernels'"));
  EXPECT_THAT(flipped(file.find("constants")), HasSubstr("damaged section 'constants'"));
  EXPECT_THAT(flipped(file.find("kernels!") - 1), HasSubstr("damaged padding before section 'kernels'"));
  EXPECT_THAT(ErrorOf(file.substr(0, 4000)), HasSubstr("truncated: 4000 bytes where the header says"));
  EXPECT_THAT(ErrorOf("short"), HasSubstr("5 bytes are less than a header"));
}

}  // namespace
}  // namespace sgd::artifact
