// sgd-inspect describes the toy artifact rightly in both forms and refuses what is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"
#include "tests/tools/command.h"
#include "tests/tools/toy_artifact.h"

namespace sgd {
namespace {

using data::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::Not;

class SgdInspect : public ::testing::Test {
 protected:
  void SetUp() override { WriteToyArtifact(folder_ / "toy.sgda", {.ranks = 4, .has_init = true, .has_eval = true}); }

  std::string Run(std::vector<std::string> flags) {
    flags.insert(flags.begin(), folder_ / "toy.sgda");
    CommandResult result = RunCommand(SGD_INSPECT, flags);
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(result.errors, "");
    return result.output;
  }

  TemporaryFolder folder_;
};

TEST_F(SgdInspect, Summary) {
  const std::string text = Run({});
  EXPECT_THAT(text, HasSubstr("mesh      data=4: 4 ranks\n"));
  EXPECT_THAT(text, HasSubstr("private 4,096, window 4,096, constants "));
  EXPECT_THAT(text, HasSubstr("programs  train, init, eval\n"));
  EXPECT_THAT(text, HasSubstr("program train: 3 matmul, 1 collective; 0 flops and 24 bytes sent a step\n"));
  EXPECT_THAT(text, HasSubstr("arg0  params['w']  f32[1,4]  replicated  f32[1,4]   parameter\n"));
  EXPECT_THAT(text, HasSubstr("arg1  x            f32[8,4]  [data, -]   f32[2,4]   input\n"));
  EXPECT_THAT(text, HasSubstr("result1  result[1]['w']  f32[1,4]  replicated  f32[1,4]   is arg0\n"));
  EXPECT_THAT(
      text,
      HasSubstr(" 1           all_reduce add  data      4        1             16          24     1  toy.py:3:7\n"));
  EXPECT_THAT(text, Not(HasSubstr("instructions\n")));
}

TEST_F(SgdInspect, PartsAsText) {
  const std::string program = Run({"--program"});
  EXPECT_THAT(program, HasSubstr(" 0  matmul      f32 1x4x2                16      2  compute  a "
                                 "constant[0+32], b private[64+128], c window[0+16]\n"));
  EXPECT_THAT(program, HasSubstr(" 1  collective  all_reduce over data      0      0  peers "));
  EXPECT_THAT(program, HasSubstr(" 3  matmul      f32 1x1x4                 8      4  memory "));
  EXPECT_THAT(Run({"--collectives"}), HasSubstr("  gradient of params['w'], f32 x 4 "));
  EXPECT_THAT(Run({"--memory"}), HasSubstr("private        0    16  arg0 result1  2 to 3\n"));
  EXPECT_THAT(
      Run({"--explain"}),
      HasSubstr("toy.py:3:7: tensor<1x4xf32> from sgd.dot_general at toy.py:3:7: [{}, {}], unreduced={\"data\"} -> "
                "[{}, {}]: step 1 of 1: all_reduce, 24 bytes sent, 2.5 us\n"));
  EXPECT_THAT(Run({"--explain"}), Not(HasSubstr("arg0")));
}

// Each table with the terms that it uses, and no others.
TEST_F(SgdInspect, ExplainsItsTerms) {
  const auto legend = [](const std::string& text) { return text.substr(text.find("\nlegend\n")); };
  for (const char* term : {"\n  at ", "\n  runs ", "\n  sharding ", "\n  sent bytes "})
    EXPECT_THAT(legend(Run({})), HasSubstr(term));
  EXPECT_THAT(legend(Run({})), Not(HasSubstr("\n  bound ")));
  EXPECT_THAT(legend(Run({"--program"})), HasSubstr("\n  bound "));
  EXPECT_THAT(legend(Run({"--program"})), HasSubstr("\n  window[0+64] "));
  EXPECT_THAT(legend(Run({"--program"})), Not(HasSubstr("\n  runs ")));
  EXPECT_THAT(legend(Run({"--memory"})), HasSubstr("\n  used "));
  EXPECT_THAT(legend(Run({"--kernels"})), HasSubstr("\n  launches "));
  EXPECT_THAT(Run({"--explain"}), Not(HasSubstr("legend")));
}

TEST_F(SgdInspect, NamesTensorsOfCollectives) {
  const nlohmann::json programs = nlohmann::json::parse(Run({"--json", "--collectives"}))["programs"];
  EXPECT_EQ(programs[0]["collectives"][0]["operands"][0]["tensor"], "gradient of params['w']");
}

TEST_F(SgdInspect, AReaderMayGo) {
  const std::string command = std::string("bash -c \"set -o pipefail; { sleep 0.1; '") + SGD_INSPECT + "' '" +
                              (folder_ / "toy.sgda") + "' 2> '" + (folder_ / "errors") + "'; } | true\"";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(data::ReadText(folder_ / "errors"), "");
}

TEST_F(SgdInspect, JudgesByTheDeviceOfTheArtifact) {
  const auto bounds = [&](double flops_per_byte) {
    WriteToyArtifact(folder_ / "toy.sgda", {.ranks = 4, .flops_per_byte = flops_per_byte});
    const nlohmann::json code = nlohmann::json::parse(Run({"--json", "--program"}))["programs"][0]["code"];
    return std::vector<nlohmann::json>{code[0]["bound"], code[1]["bound"], code[3]["bound"]};
  };
  // 16 flops on 2 bytes, a collective, 8 flops on 4 bytes.
  EXPECT_EQ(bounds(6), (std::vector<nlohmann::json>{"compute", "peers", "memory"}));
  EXPECT_EQ(bounds(20), (std::vector<nlohmann::json>{"memory", "peers", "memory"}));
  EXPECT_EQ(bounds(1), (std::vector<nlohmann::json>{"compute", "peers", "compute"}));
  EXPECT_EQ(bounds(0), (std::vector<nlohmann::json>{nullptr, "peers", nullptr}));
}

TEST_F(SgdInspect, ExplainsInFields) {
  const nlohmann::json explain = nlohmann::json::parse(Run({"--json", "--explain"}))["programs"][0]["explain"][0];
  EXPECT_EQ(explain["cause"], "producer");
  EXPECT_EQ(explain["op"], "sgd.dot_general");
  EXPECT_EQ(explain["from"], "[{}, {}], unreduced={\"data\"}");
  EXPECT_EQ(explain["bytes"], 24);
  EXPECT_EQ(explain["steps"], 1);
}

TEST_F(SgdInspect, HasNoModulesOfACpu) {
  CommandResult result = RunCommand(SGD_INSPECT, {folder_ / "toy.sgda", "--module", "sm_90"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.errors, HasSubstr("is for the target cpu; expected one for GPUs"));
}

TEST_F(SgdInspect, ListsNoKernelsWhereThereAreNone) {
  EXPECT_THAT(Run({"--kernels"}), HasSubstr("kernels: none\n"));
  EXPECT_EQ(nlohmann::json::parse(Run({"--kernels", "--json"}))["kernels"]["table"], nlohmann::json::array());
}

TEST_F(SgdInspect, ChecksStreams) {
  const std::string text = Run({"--check-streams"});
  EXPECT_THAT(text, HasSubstr("program 'train', on a device with streams: 2 streams, "));
  EXPECT_THAT(text, HasSubstr("program 'train', on threads of a host: 2 streams, "));
  EXPECT_THAT(text, HasSubstr("no problem\n"));
}

TEST_F(SgdInspect, Json) {
  const nlohmann::json summary = nlohmann::json::parse(Run({"--json"}));
  EXPECT_EQ(summary["mesh"], nlohmann::json::parse(R"([["data", 4]])"));
  EXPECT_EQ(summary["ranks"], 4);
  EXPECT_EQ(summary["memory"]["total"].get<uint64_t>(), 8192 + summary["memory"]["constants"].get<uint64_t>());
  EXPECT_EQ(summary["kernels"]["count"], 0);
  EXPECT_EQ(summary["hash"].get<std::string>().size(), 64u);
  const nlohmann::json& train = summary["programs"][0];
  EXPECT_EQ(train["inputs"][1]["type"], "f32[8,4]");
  EXPECT_EQ(train["inputs"][1]["local"], "f32[2,4]");
  EXPECT_EQ(train["inputs"][1]["sharding"], nlohmann::json::parse(R"([["data"], []])"));
  EXPECT_EQ(train["outputs"][1]["carry"], "arg0");
  EXPECT_EQ(train["outputs"][0]["carry"], nullptr);
  EXPECT_EQ(train["collectives"][0]["kind"], "all_reduce");
  EXPECT_EQ(train["collectives"][0]["sent_bytes"], 24);
  EXPECT_EQ(train["collectives"][0]["loc"], "toy.py:3:7");
  EXPECT_FALSE(train.contains("code"));

  const nlohmann::json all =
      nlohmann::json::parse(Run({"--json", "--program", "--memory", "--collectives", "--explain"}));
  EXPECT_EQ(all["programs"][0]["code"].size(), 4u);
  EXPECT_EQ(all["programs"][0]["code"][0]["k"], 2);
  EXPECT_EQ(all["programs"][0]["code"][0]["bound"], "compute");
  EXPECT_EQ(all["programs"][0]["collectives"][0]["operands"][0]["source"]["space"], "window");
  EXPECT_EQ(all["programs"][0]["explain"][0]["loc"], "toy.py:3:7");
  EXPECT_EQ(all["programs"][1]["code"][0]["pattern"], "0000803f");
  EXPECT_GT(all["programs"][0]["slices"].size(), 4u);
}

TEST_F(SgdInspect, Errors) {
  auto expect = [&](int exit_code, const char* message, std::vector<std::string> arguments) {
    CommandResult result = RunCommand(SGD_INSPECT, arguments);
    EXPECT_EQ(result.exit_code, exit_code);
    EXPECT_EQ(result.output, "");
    EXPECT_THAT(result.errors, HasSubstr(message));
    EXPECT_EQ(std::ranges::count(result.errors, '\n'), 1) << result.errors;
  };
  expect(2, "artifact is required", {});
  expect(2, "--all", {folder_ / "toy.sgda", "--all"});
  expect(1, "none.sgda: ", {folder_ / "none.sgda"});
  const std::string bytes = data::ReadText(folder_ / "toy.sgda");
  data::WriteText(folder_ / "cut.sgda", bytes.substr(0, bytes.size() - 1));
  expect(1, "cut.sgda: ", {folder_ / "cut.sgda"});
  EXPECT_THAT(RunCommand(SGD_INSPECT, {"--help"}).output, HasSubstr("--collectives"));
  EXPECT_THAT(RunCommand(SGD_INSPECT, {"--version"}).output, HasSubstr("sgd-inspect "));
}

}  // namespace
}  // namespace sgd
