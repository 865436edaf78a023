// Several plans in one file: which one is chosen, that they share what they can, and that no damage gets through.
#include "runtime/artifact/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/runtime/artifact/sample_artifact.h"

namespace sgd::artifact {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string BundleOf(const std::vector<std::pair<std::string, uint32_t>>& plans) {
  std::vector<std::string> bytes;
  for (const auto& [name, ranks] : plans) bytes.push_back(testing::SampleBytes(ranks));
  std::vector<std::pair<std::string, std::string_view>> named;
  for (size_t i = 0; i < plans.size(); ++i) named.emplace_back(plans[i].first, bytes[i]);
  absl::StatusOr<std::string> bundle = BundlePlans(named);
  return bundle.ok() ? *bundle : std::string(bundle.status().message());
}

std::string ErrorOf(const std::vector<Plan>& plans, const PlanChoice& choice) {
  return std::string(ChoosePlan(plans, choice).status().message());
}

TEST(ChoosePlan, ByNameOrRanks) {
  const std::vector<Plan> plans = {{"a", 4}, {"b", 2}, {"c", 4}};
  EXPECT_EQ(*ChoosePlan({{"a", 4}}, {}), 0u);
  EXPECT_EQ(*ChoosePlan(plans, {.ranks = 2}), 1u);
  EXPECT_EQ(*ChoosePlan(plans, {.name = "c"}), 2u);
  EXPECT_EQ(*ChoosePlan(plans, {.name = "c", .ranks = 4}), 2u);
}

TEST(ChoosePlan, RefusalsListThePlans) {
  const std::vector<Plan> plans = {{"a", 4}, {"b", 1}, {"c", 4}};
  EXPECT_EQ(ErrorOf(plans, {}),
            "has 3 plans; expected one of: 'a' (4 ranks), 'b' (1 rank), 'c' (4 ranks); choose it with --plan NAME, or "
            "with sgdrun -n RANKS");
  EXPECT_EQ(ErrorOf(plans, {.ranks = 4}),
            "has 2 plans for 4 ranks; expected one of: 'a' (4 ranks), 'c' (4 ranks); choose it with --plan NAME");
  EXPECT_THAT(ErrorOf(plans, {.ranks = 3}),
              StartsWith("has no plan for 3 ranks; expected one of: 'a' (4 ranks), 'b' (1 rank), 'c' (4 ranks); "));
  EXPECT_THAT(ErrorOf(plans, {.name = "d"}), StartsWith("has no plan 'd'; expected one of: 'a'"));
  EXPECT_THAT(ErrorOf(plans, {.name = "a", .ranks = 1}), StartsWith("has no plan 'a' for 1 rank; expected one of"));
}

TEST(Bundle, OnePlanIsNamedByItsMesh) {
  absl::StatusOr<Bundle> bundle = Bundle::FromBytes(testing::SampleBytes(4), "sample");
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  ASSERT_EQ(bundle->plans().size(), 1u);
  EXPECT_EQ(bundle->plans()[0].name, "data=4");
  EXPECT_EQ(bundle->plans()[0].ranks, 4u);
  EXPECT_EQ((*bundle->Load({}))->plan(), "data=4");
  EXPECT_EQ((*bundle->Load({.name = "data=4"}))->ranks(), 4u);
}

TEST(Bundle, PlansOutliveIt) {
  std::unique_ptr<ArtifactFile> two, four;
  {
    absl::StatusOr<Bundle> bundle = Bundle::FromBytes(BundleOf({{"four", 4}, {"two", 2}}), "sample");
    ASSERT_TRUE(bundle.ok()) << bundle.status();
    EXPECT_EQ(PlansText(bundle->plans()), "'four' (4 ranks), 'two' (2 ranks)");
    four = *bundle->Load({.name = "four"});
    two = *bundle->Load({.ranks = 2});
  }
  EXPECT_EQ(four->plan(), "four");
  EXPECT_EQ(four->ranks(), 4u);
  EXPECT_EQ(two->ranks(), 2u);
  EXPECT_EQ(two->hash(), four->hash());
  EXPECT_EQ((*two->FindProgram("main"))->inputs()->Get(0)->type()->global_dims()->Get(0), 8u);
  EXPECT_EQ((*four->FindProgram("main"))->inputs()->Get(0)->type()->global_dims()->Get(0), 16u);
}

TEST(Bundle, SamePlansSameBytesAndSharedSections) {
  const std::string bundle = BundleOf({{"four", 4}, {"two", 2}});
  EXPECT_EQ(bundle, BundleOf({{"four", 4}, {"two", 2}}));
  EXPECT_LT(bundle.size(), testing::SampleBytes(4).size() + 2 * kPageSize);
}

TEST(Bundle, RefusesWhatIsNoPlan) {
  EXPECT_EQ(BundleOf({{"a", 2}, {"a", 4}}), "the artifact to be written: has two plans named 'a'");
  const std::string bundle = BundleOf({{"a", 2}, {"b", 4}});
  EXPECT_THAT(std::string(BundlePlans({{"c", bundle}}).status().message()), HasSubstr("plan 'c' is a bundle itself"));
  EXPECT_THAT(std::string(BundlePlans({{"c", bundle.substr(1)}}).status().message()), HasSubstr("not an sgd artifact"));
}

TEST(Bundle, ErrorsBeginWithThePath) {
  testing::TemporaryFolder folder;
  const std::string path = folder.File("bundle.sgda");
  std::ofstream(path, std::ios::binary) << BundleOf({{"a", 2}, {"b", 2}});
  EXPECT_THAT(std::string(ArtifactFile::Open(path).status().message()),
              AllOf(StartsWith(path + ": has 2 plans; expected one of"), Not(HasSubstr("compile the model again"))));
  EXPECT_TRUE(ArtifactFile::Open(path, {.name = "b"}).ok());
}

TEST(Bundle, EveryFlippedByteIsFound) {
  std::string bytes = BundleOf({{"a", 2}, {"b", 4}});
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << i % 8));
    EXPECT_THAT(std::string(Bundle::FromBytes(bytes, "sample").status().message()),
                AllOf(StartsWith("sample: "), Not(HasSubstr("\n"))))
        << "byte " << i;
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << i % 8));
  }
}

// Damage with hashes made right again reaches the inner checks. Lies about one plan are no fault of another one, unless
// they spoil what the plans are told apart by.
TEST(Bundle, SurvivesForgedPlans) {
  const std::string bytes = BundleOf({{"a", 2}, {"b", 4}});
  std::vector<Sections> plans = *OpenContainer({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  std::vector<uint8_t> program(plans[1].program.begin(), plans[1].program.end());
  plans[1].program = program;
  size_t refused = 0, unharmed = 0;
  for (size_t i = 0; i < program.size(); ++i) {
    for (uint8_t mask : {0x01, 0x80, 0xff}) {
      program[i] ^= mask;
      absl::StatusOr<Bundle> bundle = Bundle::FromBytes(*BuildContainer(plans), "forged");
      const bool loads =
          bundle.ok() && bundle->plans().size() == 2 && bundle->Load({.name = bundle->plans()[1].name}).ok();
      refused += loads ? 0 : 1;
      unharmed += bundle.ok() && bundle->Load({.name = "a"}).ok() ? 1 : 0;
      program[i] ^= mask;
    }
  }
  EXPECT_GT(refused, program.size());
  EXPECT_GT(unharmed, program.size() / 2);
}

}  // namespace
}  // namespace sgd::artifact
