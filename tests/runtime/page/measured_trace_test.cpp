// Traces as sgdrun writes them, and files that are none.
#include "runtime/page/measured_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "runtime/trace/chrome_trace.h"
#include "tests/runtime/page/toy.h"

namespace sgd::page {
namespace {

using ::testing::HasSubstr;

class MeasuredTrace : public ::testing::Test {
 protected:
  void SetUp() override { plans_ = ToyPlans(folder_ / "toy.sgda", WithRecords(ToyRecords(1, "w"))); }

  const artifact::ArtifactFile& plan() const { return *plans_.at(0); }

  absl::StatusOr<nlohmann::json> Read(const std::string& text) {
    std::ofstream(folder_ / "t.json") << text;
    return ReadMeasuredTrace(folder_ / "t.json", plan());
  }

  std::string ErrorOf(const std::string& text) { return std::string(Read(text).status().message()); }

  data::TemporaryFolder folder_;
  Plans plans_;
};

TEST_F(MeasuredTrace, HasWhatRanksRan) {
  const auto events = [&](uint32_t rank, double delay) {
    return trace::ChromeTraceEvents(plan().root(), *plan().root().programs()->Get(0), rank,
                                    {{2, 0, absl::Microseconds(30 + delay), absl::Microseconds(2)},
                                     {0, 0, absl::Microseconds(delay), absl::Microseconds(10)},
                                     {1, 1, absl::Microseconds(10 + delay), absl::Nanoseconds(1500)}});
  };
  const auto read = Read(trace::ChromeTraceJson(
      {events(0, 0), events(1, 5)}, {{"artifact", artifact::HexHash(plan().hash())}, {"program", "train"}}));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ((*read)["program"], "train");
  ASSERT_EQ((*read)["ranks"].size(), 2);
  const nlohmann::json& rows = (*read)["ranks"][1]["rows"];
  EXPECT_EQ(rows[0]["name"], "compute");
  EXPECT_EQ(rows[0]["instruction"], nlohmann::json::array({0, 2})) << "in the order of time";
  EXPECT_EQ(rows[0]["gap"], nlohmann::json::array({50000, 200000})) << "tenths of nanoseconds";
  EXPECT_EQ(rows[0]["length"], nlohmann::json::array({100000, 20000}));
  EXPECT_EQ(rows[1]["length"], nlohmann::json::array({15000}));
}

TEST_F(MeasuredTrace, OtherFilesAreRefused) {
  EXPECT_THAT(std::string(ReadMeasuredTrace(folder_ / "none.json", plan()).status().message()),
              HasSubstr("cannot read trace '"));
  EXPECT_THAT(ErrorOf("{"), HasSubstr("not JSON"));
  EXPECT_THAT(ErrorOf("[]"), HasSubstr("has no list 'traceEvents'; expected what sgdrun --trace writes"));
  EXPECT_THAT(ErrorOf(R"({"traceEvents": []})"), HasSubstr("has no instruction of a step"));
  EXPECT_THAT(ErrorOf(R"({"traceEvents": [7]})"), HasSubstr("an event that is no object"));
  EXPECT_THAT(ErrorOf(R"({"traceEvents": [], "otherData": {"artifact": "00"}})"), HasSubstr("with another artifact"));
  EXPECT_THAT(ErrorOf(R"({"traceEvents": [], "otherData": {"plan": "data=8"}})"), HasSubstr("with the plan 'data=8'"));
  EXPECT_THAT(ErrorOf(R"({"traceEvents": [], "otherData": {"program": "none"}})"),
              HasSubstr("no program of the artifact"));
  const auto event = [](const std::string& fields, const std::string& instruction) {
    return R"({"traceEvents": [{"ph": "X", )" + fields + R"(, "args": {"instruction": )" + instruction + "}}]}";
  };
  const std::string good = R"("pid": 0, "tid": 0, "ts": 1, "dur": 2)";
  EXPECT_EQ(ErrorOf(event(good, "1")), "");
  for (const char* instruction : {"99", "-1", "\"x\"", "null", "1e300"})
    EXPECT_THAT(ErrorOf(event(good, instruction)), HasSubstr("an instruction that the program has not")) << instruction;
  for (const char* fields : {R"("pid": 7, "tid": 0, "ts": 1, "dur": 2)", R"("pid": 0, "tid": -1, "ts": 1, "dur": 2)",
                             R"("pid": 0, "tid": 0, "ts": 1e20, "dur": 2)", R"("pid": 0, "tid": 0, "ts": 1)"})
    EXPECT_THAT(ErrorOf(event(fields, "1")), HasSubstr("without rank, stream or times")) << fields;
}

}  // namespace
}  // namespace sgd::page
