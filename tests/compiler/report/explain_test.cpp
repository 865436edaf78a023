// Explanations as text and as JSON, by hand-made records; that compilations give the right ones is tested beside the
// driver.
#include "compiler/report/explain.h"

#include <gtest/gtest.h>

namespace mlir::sgd {
namespace {

ExplanationReport getSample() {
  ExplainRecord reduce;
  reduce.program = "main", reduce.location = "step.py:7:8", reduce.op = "all_reduce", reduce.why = "the gradient";
  reduce.from = "[{}], unreduced={\"x\"}", reduce.to = "[{}]", reduce.steps = "step 1 of 1: all_reduce";
  reduce.subject = "tensor<8xf32>", reduce.scope = "step/head", reduce.chosen = "all_reduce";
  reduce.bytes = 1536, reduce.seconds = 1.25e-5;
  ExplainRecord asked;
  asked.program = "eval", asked.op = "all_gather", asked.why = "the program asks for it";
  ExplainRecord again;
  again.program = "main", again.location = "step.py:9:4", again.op = "recompute", again.why = "it runs again";
  again.seconds = 2e-6, again.freedBytes = 4096, again.flops = 100;
  again.alternatives = {{.name = "kept", .bytes = 8, .seconds = 1e-6, .why = "the limit"}};
  return {{reduce, asked, again}};
}

std::string print(const ExplanationReport& explanation) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  explanation.print(stream);
  return text;
}

TEST(Explanation, PrintsOnlyWhatIsKnown) {
  EXPECT_EQ(print(getSample()),
            "step.py:7:8: all_reduce, 1536 bytes sent, 12.5 us: [{}], unreduced={\"x\"} -> [{}] (step 1 of 1: "
            "all_reduce)\n    the gradient\n"
            "<unknown>: all_gather\n    the program asks for it\n"
            "step.py:9:4: recompute\n    it runs again\n");
  EXPECT_EQ(print({}), "no collectives\n");
}

TEST(Explanation, JsonThereAndBack) {
  ExplanationReport read, none;
  ASSERT_TRUE(fromJson(getSample().toJson(), read));
  EXPECT_EQ(read.toJson(), getSample().toJson());
  EXPECT_EQ(print(read), print(getSample()));
  ASSERT_TRUE(fromJson(ExplanationReport().toJson(), none));
  EXPECT_TRUE(none.records.empty());
}

TEST(Explanation, JsonOfAnotherShapeIsRefused) {
  const nlohmann::json whole = getSample().toJson()[0];
  for (const auto& [key, value] : whole.items()) {
    for (bool isMissing : {true, false}) {
      nlohmann::json record = whole;
      record.erase(key);
      if (!isMissing) record[key] = nullptr;
      ExplanationReport read;
      EXPECT_FALSE(fromJson(nlohmann::json::array({std::move(record)}), read)) << key;
    }
  }
  ExplanationReport read;
  EXPECT_FALSE(fromJson(nlohmann::json::object(), read));
  EXPECT_FALSE(fromJson(nlohmann::json::array({"a record"}), read));
}

}  // namespace
}  // namespace mlir::sgd
