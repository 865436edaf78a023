// Explanations as text and as JSON, by hand-made records; that compilations give the right ones is tested beside the
// driver.
#include "compiler/report/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mlir::sgd {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

ExplanationReport getSample() {
  ExplainRecord reduce;
  reduce.program = "main", reduce.location = "step.py:7:8", reduce.op = "all_reduce", reduce.why = "the gradient";
  reduce.from = "[{}], unreduced={\"x\"}", reduce.to = "[{}]", reduce.steps = "step 1 of 1: all_reduce";
  reduce.subject = "tensor<8xf32>", reduce.scope = "step/head", reduce.chosen = "all_reduce";
  reduce.bytes = 1536, reduce.seconds = 1.25e-5, reduce.collective = 1, reduce.tensorBytes = 1536;
  ExplainRecord asked;
  asked.program = "eval", asked.op = "all_gather", asked.why = "the program asks for it", asked.collective = 2;
  ExplainRecord again;
  again.program = "main", again.location = "step.py:9:4", again.op = "recompute", again.why = "it runs again";
  again.seconds = 2e-6, again.freedBytes = 4096, again.flops = 100;
  again.alternatives = {{.name = "kept", .bytes = 8, .seconds = 1e-6, .why = "the limit"}};
  return {{reduce, asked, again}};
}

std::string printAll(const ExplanationReport& explanation) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  explanation.printAll(stream);
  return text;
}

std::string print(const ExplanationReport& explanation) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  explanation.print(stream);
  return text;
}

/// A merged all-reduce of gradients of layers, and smaller collectives of `others` tensors.
ExplanationReport getLayers(unsigned layers, unsigned others) {
  ExplanationReport explanation;
  auto add = [&](const std::string& name, const std::string& op, uint64_t tensorBytes) -> ExplainRecord& {
    ExplainRecord& record = explanation.records.emplace_back();
    record.program = "main", record.op = op, record.location = "m.py:3:4", record.subject = name + ", tensor<8xf32>";
    record.from = "[{}], unreduced={\"data\"}", record.to = "[{}]", record.tensorBytes = tensorBytes;
    record.collective = 1;
    return record;
  };
  for (unsigned layer = 0; layer < layers; ++layer)
    add("gradient of layer" + std::to_string(layer) + ".w", "all_reduce", 300);
  ExplainRecord& head = explanation.records.front();
  head.bytes = 300 * layers, head.seconds = 1e-6 * layers;
  ExplainRecord& hidden = add("", "all_reduce", 0);
  hidden.from = hidden.to = "", hidden.hiddenSeconds = 1e-6;
  for (unsigned other = 0; other < others; ++other) {
    ExplainRecord& record = add("new p" + std::string(1, char('a' + other)), "all_gather", 10);
    record.from = "[{\"data\"}]", record.to = "[{}]", record.collective = other + 2, record.bytes = 10;
  }
  return explanation;
}

TEST(Explanation, SumsUpByParameterAndLayer) {
  EXPECT_EQ(print(getLayers(4, 1)),
            "a rank sends 1.18 KiB a step, in 4 us, of which 1 us pass beside compute\n"
            "gradient of layer*.w (4 tensors): all_reduce over data, 1.17 KiB, 4 us\n"
            "    each rank has the sum over its own rows of the batch (m.py:3:4)\n"
            "    to change it: \"compress\" of a recipe sends fewer bytes, \"zero\": 1 reduces to shards\n"
            "new pa: all_gather over data, 10 B, 0 us\n"
            "    each rank has updated its shard, and the next step begins with all of it (m.py:3:4)\n"
            "    to change it: \"zero\": 0 with --shard-updates never all-reduces gradients, and updates them whole\n");
  std::string many = print(getLayers(1, 7));
  EXPECT_THAT(many, HasSubstr("\ngradient of layer0.w: all_reduce over data, 300 B, 1 us\n")) << "one keeps its number";
  EXPECT_THAT(many, EndsWith("and 3 smaller tensors: 30 B; --explain=all lists them\n"));
}

TEST(Explanation, SumsUpUpdates) {
  ExplanationReport explanation;
  for (const char* name : {"result[1]['params']['l0']['w'], result[1]['m']['l0']['w'] and result[1]['v']['l0']['w']",
                           "result[1]['params']['l1']['w']", "result 2"}) {
    ExplainRecord& record = explanation.records.emplace_back();
    record.op = "update", record.subject = name, record.chosen = "whole";
  }
  EXPECT_THAT(print(explanation), HasSubstr("updated whole on every rank: 3 parameters, params.l*.w, result *\n"));
}

TEST(Explanation, PrintsOnlyWhatIsKnown) {
  EXPECT_EQ(printAll(getSample()),
            "step.py:7:8: all_reduce, 1536 bytes sent, 12.5 us: [{}], unreduced={\"x\"} -> [{}] (step 1 of 1: "
            "all_reduce)\n    the gradient\n"
            "<unknown>: all_gather\n    the program asks for it\n"
            "step.py:9:4: recompute\n    it runs again\n");
  EXPECT_EQ(print({}), "no collectives\n");
  EXPECT_EQ(printAll({}), "no collectives\n");
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
