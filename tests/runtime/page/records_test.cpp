// Records survive packing, and damaged ones are refused.
#include "runtime/page/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/page/toy.h"

namespace sgd::page {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(std::vector<uint8_t> records) {
  const data::TemporaryFolder folder;
  const Plans plans = ToyPlans(folder / "toy.sgda", {.ranks = 2, .records = std::move(records)});
  return std::string(UnpackRecords(*plans.at(0)).status().message());
}

TEST(Records, SurvivePacking) {
  const data::TemporaryFolder folder;
  const nlohmann::json json = {{"report", {{"loss", "\u0001 <b> \xc3\xa9"}}}, {"list", std::vector<int>(10000, 7)}};
  const Plans plans = ToyPlans(folder / "toy.sgda", WithRecords(json));
  const auto unpacked = UnpackRecords(*plans.at(0));
  ASSERT_TRUE(unpacked.ok()) << unpacked.status();
  EXPECT_EQ(*unpacked, json);
  EXPECT_LT(PackRecords(json.dump()).size(), 200) << "they are deflated";
  EXPECT_EQ(PackRecords(json.dump()), PackRecords(json.dump()));
}

TEST(Records, DamagedOnesAreRefused) {
  EXPECT_THAT(ErrorOf({}), HasSubstr("toy.sgda: has no records of its compilation; expected those that sgdc writes"));
  EXPECT_THAT(ErrorOf({1, 2, 3}), HasSubstr("its records are too short"));
  EXPECT_THAT(ErrorOf({255, 255, 255, 255, 255, 255, 255, 255, 0}), HasSubstr("its records are of a size"));
  EXPECT_THAT(ErrorOf({0, 0, 0, 4, 0, 0, 0, 0, 0, 1}), HasSubstr("its records are of a size")) << "more than inflates";
  EXPECT_THAT(ErrorOf(PackRecords("[1]")), HasSubstr("its records are no JSON object"));
  EXPECT_THAT(ErrorOf(PackRecords("{\"a\": ")), HasSubstr("its records are not JSON"));
  const std::vector<uint8_t> whole = PackRecords(R"({"report": {"program": "main", "sent_bytes": 4096}})");
  EXPECT_EQ(ErrorOf(whole), "");
  for (size_t at = 0; at < whole.size(); ++at) {
    std::vector<uint8_t> flipped = whole;
    flipped[at] ^= 0x55;
    EXPECT_NE(ErrorOf(flipped), "") << "byte " << at;
    EXPECT_NE(ErrorOf({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(at)}), "") << at << " bytes";
  }
}

}  // namespace
}  // namespace sgd::page
