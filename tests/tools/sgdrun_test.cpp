// sgdrun as its users meet it: runs, trains, evaluates, saves and resumes the toy artifact on
// several numbers of ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/tools/sgdrun_runs.h"

namespace sgd {
namespace {

using ::testing::HasSubstr;

TEST_F(Sgdrun, RunsOnce) {
  const std::string inputs = Tensors("in", {{"arg0", {1, 4}}, {"x", {8, 4}}});
  for (uint32_t ranks : {1u, 2u, 4u}) {
    const std::string out = folder_ / ("out" + std::to_string(ranks));
    CommandResult result = MustRun({"-n", std::to_string(ranks), Artifact({.ranks = ranks, .train_name = "main"}),
                                    "--inputs", inputs, "--outputs", out});
    // Columns of x sum to 112, 120, 128, 136; w = {0, 1, 2, 3} + half of that.
    EXPECT_EQ(Floats(out, "result1"), (std::vector<float>{56, 61, 66, 71}));
    EXPECT_EQ(Floats(out, "result0"), std::vector<float>{254});
    EXPECT_EQ(result.output, "result0  254\n");
    EXPECT_EQ(result.errors, "");
  }
  MustRun({Artifact({.ranks = 2}), "--inputs", inputs, "--outputs", folder_ / "model", "--output-names", "model"});
  EXPECT_EQ(Floats(folder_ / "model", "result[1]['w']"), (std::vector<float>{56, 61, 66, 71}));
}

TEST_F(Sgdrun, TrainsOnBatchesWithCarry) {
  const std::string init = Tensors("init", {{"arg0", {1, 4}}, {"arg1", {8, 4}}});
  const std::string batches = Tensors("batches", {{"step0.arg1", {8, 4}}, {"step1.x", {8, 4}}});
  for (uint32_t ranks : {1u, 4u}) {
    const std::string name = "log" + std::to_string(ranks);
    CommandResult result = MustRun({Artifact({.ranks = ranks}), "--init", init, "--batches", batches, "--steps", "3",
                                    "--log-json", folder_ / name, "--outputs", folder_ / "out"});
    // Every step adds 56, 60, 64, 68 = 248 to the sum of w, which begins with 6.
    EXPECT_EQ(Steps(result.output),
              (std::vector<std::string>{"step 0  loss 254.000", "step 1  loss 502.000", "step 2  loss 750.000"}));
    const std::vector<nlohmann::json> log = Log(name);
    ASSERT_EQ(log.size(), 3u);
    EXPECT_EQ(log[2]["step"], 2);
    EXPECT_EQ(log[2]["loss"], 750.0);
    EXPECT_EQ(log[2]["outputs"], nlohmann::json::parse(R"({"result0": 750.0})"));
    EXPECT_GT(log[2]["seconds"], 0);
    EXPECT_EQ(Floats(folder_ / "out", "result1"), (std::vector<float>{168, 181, 194, 207}));
  }
}

TEST_F(Sgdrun, NotesWhatInitLeavesToTheProgram) {
  const std::string file = Tensors("file", {{"arg1", {8, 4}}});
  const std::string artifact = Artifact({.has_init = true});
  EXPECT_EQ(MustRun({artifact, "--init", file, "--steps", "1"}).errors,
            absl::StrCat("sgdrun: note: of the initial state, 1 tensor is from ", file,
                         " and 1 from program 'init': arg0 'params['w']' (f32[1,4])\n"));
  const std::string whole = Tensors("whole", {{"arg0", {1, 4}}, {"arg1", {8, 4}}});
  EXPECT_EQ(MustRun({artifact, "--init", whole, "--steps", "1"}).errors, "");
}

TEST_F(Sgdrun, CarryCanBeSetByHand) {
  const std::string init = Tensors("init", {{"arg0", {1, 4}}, {"arg1", {8, 4}}});
  const std::string artifact = Artifact({});
  EXPECT_THAT(MustRun({artifact, "--init", init, "--steps", "2", "--carry", "result[1]['w']:arg0"}).output,
              HasSubstr("step 1  loss 502"));
  data::WriteText(folder_ / "carry.json", "[[1, 0]]");
  EXPECT_THAT(MustRun({artifact, "--init", init, "--steps", "2", "--carry-json", folder_ / "carry.json"}).output,
              HasSubstr("step 1  loss 502"));
  // Without any carry every step starts from --init, although the program overwrites its input.
  data::WriteText(folder_ / "none.json", "[]");
  EXPECT_THAT(MustRun({artifact, "--init", init, "--steps", "2", "--carry-json", folder_ / "none.json"}).output,
              HasSubstr("step 1  loss 254"));
}

TEST_F(Sgdrun, DataOrderDependsOnSeedOnly) {
  const std::string rows = Tensors("data", {{"images", {20, 4}}});
  auto train = [&](uint32_t ranks, const std::string& seed) {
    return Steps(MustRun({Artifact({.ranks = ranks, .has_init = true}), "--data", rows, "--feed", "x=images", "--steps",
                          "6", "--seed", seed})
                     .output);
  };
  const std::vector<std::string> one = train(1, "3");
  EXPECT_EQ(one.size(), 6u);
  EXPECT_EQ(one, train(2, "3"));
  EXPECT_EQ(one, train(4, "3"));
  EXPECT_NE(one, train(4, "4"));
}

TEST_F(Sgdrun, ResumesWithTheSameBitsOnOtherRanks) {
  const std::string rows = Tensors("data", {{"x", {20, 4}}});
  const std::string two = Artifact({.ranks = 2, .has_init = true});
  MustRun({two, "--data", rows, "--steps", "7", "--seed", "5", "--log-json", folder_ / "whole", "--outputs",
           folder_ / "whole.out"});
  MustRun({two, "--data", rows, "--steps", "3", "--seed", "5", "--log-json", folder_ / "parts", "--save",
           folder_ / "saved", "--save-every", "2"});
  EXPECT_TRUE(std::filesystem::exists(folder_ / "saved/step-0000000002/manifest.json"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "saved/step-0000000003/manifest.json"));
  MustRun({Artifact({.ranks = 4, .has_init = true}), "--data", rows, "--steps", "4", "--resume", folder_ / "saved",
           "--log-json", folder_ / "rest", "--outputs", folder_ / "parts.out"});
  const std::vector<nlohmann::json> whole = Log("whole");
  std::vector<nlohmann::json> parts = Log("parts");
  std::erase_if(parts, [](const nlohmann::json& line) { return line.contains("event"); });
  for (const nlohmann::json& line : Log("rest")) parts.push_back(line);
  ASSERT_EQ(whole.size(), 7u);
  ASSERT_EQ(parts.size(), 7u);
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(parts[i]["step"], i);
    EXPECT_EQ(parts[i]["loss"], whole[i]["loss"]);
  }
  EXPECT_EQ(data::ReadText(folder_ / "parts.out"), data::ReadText(folder_ / "whole.out"));
}

TEST_F(Sgdrun, EvaluatesBetweenSteps) {
  const std::string rows = Tensors("data", {{"x", {16, 4}}});
  const std::vector<std::string> plain =
      Steps(MustRun({Artifact({.ranks = 2, .has_init = true}), "--data", rows, "--steps", "4"}).output);
  for (bool overwrites : {false, true}) {
    const std::string name = overwrites ? "overwritten" : "kept";
    CommandResult result = MustRun(
        {Artifact({.ranks = 2, .has_init = true, .has_eval = true, .eval_overwrites_state = overwrites}), "--data",
         rows, "--steps", "4", "--eval-every", "2", "--eval-data", rows, "--log-json", folder_ / name});
    const std::vector<nlohmann::json> log = Log(name);
    ASSERT_EQ(log.size(), 4u);
    EXPECT_FALSE(log[0].contains("eval"));
    EXPECT_EQ(log[1]["eval"]["sum"], log[1]["loss"]) << "eval sees the state after the step";
    EXPECT_EQ(log[3]["eval"]["sum"], log[3]["loss"]);
    EXPECT_EQ(Steps(result.output), plain) << "evaluation must not change training";
    EXPECT_THAT(result.output, HasSubstr("eval after step 1  sum "));
  }
}

TEST_F(Sgdrun, OtherProgramsMayShardStateDifferently) {
  const std::string rows = Tensors("data", {{"x", {16, 4}}});
  auto train = [&](bool shards) {
    const std::string output =
        MustRun({Artifact({.ranks = 4, .has_init = true, .has_eval = true, .others_shard_state = shards}), "--data",
                 rows, "--steps", "4", "--eval-every", "2", "--eval-data", rows})
            .output;
    return std::pair(Steps(output), Lines(output, "eval after"));
  };
  EXPECT_EQ(train(true), train(false));
  EXPECT_EQ(train(true).second.size(), 2u);
}

TEST_F(Sgdrun, BenchPrintsOneLine) {
  for (uint32_t ranks : {1u, 2u}) {
    CommandResult result = MustRun({Artifact({.ranks = ranks}), "--bench", "3"});
    const nlohmann::json json = nlohmann::json::parse(result.output);
    EXPECT_EQ(json["steps"], 3);
    EXPECT_GT(json["min_ms"], 0);
    EXPECT_GE(json["median_ms"], json["min_ms"]);
    double phases = 0;
    for (const auto& [name, ms] : json["start_phases_ms"].items()) phases += ms.get<double>();
    EXPECT_GT(phases, 0);
    EXPECT_NEAR(json["start_to_first_step_ms"], phases, 1e-3);
    for (const char* phase : {"link", "open files", "prepare", "fill inputs", "first step"}) {
      EXPECT_TRUE(json["start_phases_ms"].contains(phase)) << phase;
    }
    EXPECT_GT(json["peak_pss_bytes_per_rank"], 100'000);
    EXPECT_GE(json["comm_ms_median"], 0);
    EXPECT_EQ(json["sent_bytes"], ranks == 1 ? 0 : 16);
    EXPECT_GE(json["arena_bytes"], 8192);
  }
  MustRun({Artifact({.ranks = 2}), "--bench", "1", "--null-kernels", "--threads", "2", "--deadline", "20"});
}

TEST_F(Sgdrun, ProfilesInstructions) {
  MustRun({Artifact({.ranks = 2}), "--bench", "2", "--profile", folder_ / "profile"});
  const std::vector<nlohmann::json> lines = Log("profile");
  ASSERT_FALSE(lines.empty());
  bool has_collective = false;
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i]["instruction"], i);
    EXPECT_GT(lines[i]["microseconds"], 0);
    EXPECT_LT(lines[i]["microseconds"], 1e7);
    EXPECT_GE(lines[i]["gbytes_per_second"], 0);
    has_collective = has_collective || lines[i]["op"] == "all_reduce";
  }
  EXPECT_TRUE(has_collective);
  EXPECT_THAT(Run({Artifact({}), "--bench", "1", "--profile", folder_ / "no/where"}).errors, HasSubstr("no/where"));
}

TEST_F(Sgdrun, ChoosesPrograms) {
  const std::string inputs = Tensors("in", {{"arg0", {1, 4}}, {"x", {8, 4}}});
  const std::string artifact = Artifact({.has_init = true, .has_eval = true});
  EXPECT_EQ(MustRun({artifact, "--inputs", inputs, "--program", "eval"}).output, "result0  6\n");
  EXPECT_EQ(MustRun({artifact, "--inputs", inputs}).output, "result0  254\n");
  EXPECT_THAT(Run({artifact, "--inputs", inputs, "--program", "test"}).errors, HasSubstr("'test'"));
}

TEST_F(Sgdrun, HelpAndVersion) {
  CommandResult help = MustRun({"--help"});
  EXPECT_EQ(help.errors, "");
  for (const char* text : {"Examples:", "--bench K", "--resume DIR", "-n RANKS", "Exit codes"})
    EXPECT_THAT(help.output, HasSubstr(text));
  EXPECT_EQ(MustRun({"--version"}).output.rfind("sgdrun ", 0), 0u);
}

}  // namespace
}  // namespace sgd
