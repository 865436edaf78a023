// Every bit of a container is covered: exhaustive over bytes and lengths of a small file.
#include "runtime/artifact/container.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

namespace sgd::artifact {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Bytes ViewOf(const std::string& text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

std::string Text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

std::string SmallFile() {
  const std::string program = "a program of odd length", kernels = "kernels!", constants = "constants";
  return *BuildContainer({{ViewOf(program), ViewOf(kernels), ViewOf(constants)}});
}

// Two plans with different programs and constants and the same kernels.
std::string FileOfTwoPlans() {
  const std::string first = "a program", second = "another program", kernels = "kernels!", constants = "constants";
  return *BuildContainer({{ViewOf(first), ViewOf(kernels), {}}, {ViewOf(second), ViewOf(kernels), ViewOf(constants)}});
}

std::string ErrorOf(const std::string& file) {
  absl::StatusOr<std::vector<Sections>> plans = OpenContainer(ViewOf(file));
  return plans.ok() ? "" : std::string(plans.status().message());
}

// Flips a bit of each byte in turn.
void ExpectFlipsAreFound(std::string file) {
  for (size_t i = 0; i < file.size(); ++i) {
    const uint8_t flip = static_cast<uint8_t>(1u << (i % 8));
    file[i] = static_cast<char>(file[i] ^ flip);
    EXPECT_THAT(ErrorOf(file), AllOf(Not(""), Not(HasSubstr("\n")))) << "byte " << i;
    file[i] = static_cast<char>(file[i] ^ flip);
  }
  EXPECT_EQ(ErrorOf(file), "");
}

// The file with a changed section table under a hash that fits.
std::string WithTable(std::string file, const std::function<void(std::vector<SectionEntry>&)>& change) {
  FileHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  std::vector<SectionEntry> table(header.section_count);
  std::memcpy(table.data(), file.data() + sizeof(header), table.size() * sizeof(SectionEntry));
  change(table);
  std::memcpy(file.data() + sizeof(header), table.data(), table.size() * sizeof(SectionEntry));
  std::memset(file.data() + offsetof(FileHeader, hash), 0, sizeof(Hash));
  const Hash hash = *Sha256(ViewOf(file).first(sizeof(header) + table.size() * sizeof(SectionEntry)));
  std::memcpy(file.data() + offsetof(FileHeader, hash), hash.data(), hash.size());
  return file;
}

TEST(Container, RoundTrip) {
  const std::string file = SmallFile();
  absl::StatusOr<std::vector<Sections>> plans = OpenContainer(ViewOf(file));
  ASSERT_TRUE(plans.ok()) << plans.status();
  ASSERT_EQ(plans->size(), 1u);
  const Sections& sections = plans->front();
  EXPECT_EQ(Text(sections.program), "a program of odd length");
  EXPECT_EQ(Text(sections.kernels), "kernels!");
  EXPECT_EQ(Text(sections.constants), "constants");
  EXPECT_EQ((sections.kernels.data() - ViewOf(file).data()) % kPageSize, 0u);
  EXPECT_EQ((sections.constants.data() - ViewOf(file).data()) % kPageSize, 0u);
  EXPECT_EQ(HexHash(sections.hash).size(), 64u);
}

TEST(Container, PlansShareEqualSections) {
  const std::string file = FileOfTwoPlans();
  absl::StatusOr<std::vector<Sections>> plans = OpenContainer(ViewOf(file));
  ASSERT_TRUE(plans.ok()) << plans.status();
  ASSERT_EQ(plans->size(), 2u);
  EXPECT_EQ(Text(plans->front().program), "a program");
  EXPECT_EQ(Text(plans->back().program), "another program");
  EXPECT_EQ(Text(plans->front().kernels), "kernels!");
  EXPECT_EQ(plans->front().kernels.data(), plans->back().kernels.data());
  EXPECT_TRUE(plans->front().constants.empty());
  EXPECT_EQ(Text(plans->back().constants), "constants");
  EXPECT_EQ(plans->front().hash, plans->back().hash);
}

TEST(Container, PlansAreLimited) {
  const std::string program = "p";
  EXPECT_THAT(std::string(BuildContainer({}).status().message()), HasSubstr("has 0 plans; expected 1 to 256"));
  EXPECT_TRUE(BuildContainer(std::vector<Sections>(kMostPlans, {ViewOf(program), {}, {}})).ok());
  EXPECT_THAT(
      std::string(BuildContainer(std::vector<Sections>(kMostPlans + 1, {ViewOf(program), {}, {}})).status().message()),
      HasSubstr("has 257 plans; expected 1 to 256"));
}

TEST(Container, SectionsStandByPlanAndKind) {
  const std::string file = FileOfTwoPlans();
  ASSERT_EQ(ErrorOf(WithTable(file, [](auto&) {})), "");
  EXPECT_THAT(ErrorOf(WithTable(file, [](auto& table) { table[0].plan = 1; })),
              HasSubstr("section 'program' of plan 1 is repeated or out of order"));
  EXPECT_THAT(ErrorOf(WithTable(file, [](auto& table) { table[2].plan = 2; })),
              HasSubstr("section 'program' of plan 2 is repeated or out of order"));
  EXPECT_THAT(ErrorOf(WithTable(file, [](auto& table) { table[2].plan = 0; })),
              HasSubstr("section 'program' of plan 0 is repeated or out of order"));
  EXPECT_THAT(ErrorOf(WithTable(file, [](auto& table) { table[4].kind = 2; })),
              HasSubstr("section 'kernels' of plan 1 is repeated or out of order"));
  EXPECT_THAT(ErrorOf(WithTable(file, [](auto& table) { table[0].kind = 2; })),
              HasSubstr("section 'kernels' of plan 0 is repeated or out of order"));
  EXPECT_THAT(ErrorOf(WithTable(file, [](auto& table) { table[1].kind = 4; })), HasSubstr("section of unknown kind 4"));
  // It is no section of an earlier plan then.
  EXPECT_THAT(ErrorOf(WithTable(file, [](auto& table) { table[3].size -= 1; })),
              HasSubstr("section 'kernels' at offset"));
}

TEST(Container, SameSectionsSameBytes) { EXPECT_EQ(SmallFile(), SmallFile()); }

TEST(Container, EmptySectionsAreLeftOut) {
  const std::string program = "p";
  const std::string file = *BuildContainer({{ViewOf(program), {}, {}}});
  EXPECT_LT(file.size(), 200u);
  absl::StatusOr<std::vector<Sections>> plans = OpenContainer(ViewOf(file));
  ASSERT_TRUE(plans.ok()) << plans.status();
  EXPECT_TRUE(plans->front().kernels.empty());
  EXPECT_TRUE(plans->front().constants.empty());
}

TEST(Container, EveryFlippedByteIsFound) {
  ExpectFlipsAreFound(SmallFile());
  ExpectFlipsAreFound(FileOfTwoPlans());
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
  EXPECT_EQ(
      flipped(0),
      "is not an sgd artifact: its magic number is another; expected a file that sgdc wrote; compile a model first: "
      "sgdc MODEL -o FILE.sgda");
  EXPECT_THAT(flipped(8), HasSubstr("has format version 5; expected version 4; compile the model again"));
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
