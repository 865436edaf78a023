// Lines that sgdrun prints for people when it trains, evaluates or only prepares a run.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/tools/sgdrun_runs.h"

namespace sgd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

class SgdrunScreen : public Sgdrun {
 protected:
  std::string Rows() { return Tensors("rows", {{"x", {16, 4}}}); }
};

TEST_F(SgdrunScreen, TellsWhatRunsAndWhatHasCome) {
  const std::string rows = Rows();
  for (uint32_t ranks : {1u, 2u, 4u}) {
    const std::string artifact = Artifact({.ranks = ranks, .has_init = true});
    const std::string output =
        MustRun({artifact, "--data", rows, "--steps", "3", "--save", folder_ / absl::StrCat("saved", ranks)}).output;
    EXPECT_THAT(output, StartsWith(absl::StrCat("artifact    ", artifact, ", program 'train'\nranks       ", ranks,
                                                ": data=", ranks,
                                                "\nparameters  4 in 1 tensor, 16 B\n"
                                                "a step      8 rows\nsteps       0 to 2\nstep 0  loss ")));
    EXPECT_THAT(Lines(output, "saved step "),
                ElementsAre(StartsWith(absl::StrCat("saved step 3 to ", folder_ / absl::StrCat("saved", ranks),
                                                    "/step-0000000003, 16 B in "))));
    EXPECT_THAT(Lines(output, "done"), ElementsAre(StartsWith("done        3 steps in ")));
    EXPECT_THAT(Lines(output, "rate"), ElementsAre(HasSubstr(" rows/s")));
    EXPECT_THAT(Lines(output, "loss"), ElementsAre(HasSubstr(", best ")));
    EXPECT_THAT(Lines(output, "sent"), SizeIs(ranks == 1 ? 0 : 1));
  }
}

TEST_F(SgdrunScreen, ResumedRunsTellFromWhere) {
  const std::string rows = Rows(), saved = folder_ / "saved", log = folder_ / "log";
  MustRun(
      {Artifact({.ranks = 2, .has_init = true}), "--data", rows, "--steps", "9", "--save", saved, "--log-json", log});
  const std::string four = Artifact({.ranks = 4, .has_init = true});
  const std::string output =
      MustRun({four, "--data", rows, "--steps", "2", "--resume", saved, "--log-json", log}).output;
  EXPECT_THAT(output, HasSubstr(absl::StrCat("steps       9 to 10, resumed at step 9 from ", saved,
                                             "/step-0000000009\nstep  9  loss ")));
  EXPECT_THAT(Lines(output, "step 10"), SizeIs(1)) << "numbers of steps are aligned";
  EXPECT_THAT(Log("log"), SizeIs(9 + 1 + 2)) << "appended: steps, an event, steps";
  const CommandResult again = Run({four, "--data", rows, "--steps", "1", "--log-json", log});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.errors,
              HasSubstr("exists; expected no file there; give another path, or delete it; --resume appends"));
}

TEST_F(SgdrunScreen, NoStepsPrepareAndWriteNothing) {
  const std::string rows = Rows(), saved = folder_ / "saved", out = folder_ / "out", log = folder_ / "log",
                    weights = folder_ / "weights";
  for (uint32_t ranks : {1u, 4u}) {
    const std::string artifact = Artifact({.ranks = ranks, .has_init = true, .has_eval = true});
    const CommandResult result =
        MustRun({artifact, "--data", rows, "--steps", "0", "--save", saved, "--outputs", out, "--log-json", log,
                 "--save-weights", weights, "--eval-every", "1", "--eval-data", rows});
    EXPECT_THAT(result.output, HasSubstr("steps       none\nprepared    every input has a value"));
    EXPECT_THAT(Lines(result.output, "done"), IsEmpty());
    for (const std::string& path : {out, log, weights}) EXPECT_FALSE(std::filesystem::exists(path)) << path;
    EXPECT_FALSE(std::filesystem::exists(saved + "/step-0000000000"));
    // Input that a run would lack is asked for.
    EXPECT_THAT(Run({artifact, "--steps", "0"}).errors, HasSubstr("is in none of --init, --resume, --data"));
    EXPECT_THAT(Run({artifact, "--steps", "0", "--data", Tensors("other", {{"y", {16, 4}}})}).errors,
                HasSubstr("no tensor has the name of an input"));
    EXPECT_THAT(Run({artifact, "--steps", "0", "--data", rows, "--outputs", "/nowhere/x"}).errors,
                HasSubstr("/nowhere/x"));
    EXPECT_THAT(
        Run({Artifact({.ranks = ranks, .has_init = true, .is_carry_known = false}), "--steps", "0", "--data", rows})
            .errors,
        HasSubstr("needs to know what goes from step to step"));
  }
}

TEST_F(SgdrunScreen, EvaluatesWithoutTraining) {
  const std::string rows = Rows(), weights = folder_ / "weights";
  for (bool shards : {false, true}) {
    const std::string saved = folder_ / absl::StrCat("saved", shards);
    const std::string trained =
        MustRun({Artifact({.ranks = 2, .has_init = true, .has_eval = true}), "--data", rows, "--steps", "4",
                 "--eval-every", "4", "--eval-data", rows, "--save", saved, "--save-weights", weights})
            .output;
    const std::vector<std::string> evals = Lines(trained, "eval after step 3  ");
    ASSERT_THAT(evals, SizeIs(1));
    const std::string result = evals[0].substr(evals[0].find("  "));
    for (uint32_t ranks : {1u, 2u, 4u}) {
      const std::string artifact =
          Artifact({.ranks = ranks, .has_init = true, .has_eval = true, .others_shard_state = shards});
      const std::string log = absl::StrCat("log", shards, ranks);
      const std::string resumed =
          MustRun({artifact, "--resume", saved, "--eval-only", "--eval-data", rows, "--log-json", folder_ / log})
              .output;
      EXPECT_THAT(Lines(resumed, "eval"), ElementsAre("eval after 4 steps" + result));
      EXPECT_THAT(resumed, HasSubstr("steps       none, evaluation alone, resumed at step 4 from "));
      EXPECT_THAT(Lines(resumed, "step "), IsEmpty());
      ASSERT_THAT(Log(log), SizeIs(1));
      EXPECT_EQ(Log(log)[0]["event"], "evaluated");
      EXPECT_EQ(Log(log)[0]["step"], 4);
      EXPECT_EQ(absl::StrCat("  sum ", Log(log)[0]["eval"]["sum"].dump()), result);
      EXPECT_THAT(Lines(MustRun({artifact, "--init", weights, "--eval-only", "--eval-data", rows}).output, "eval"),
                  ElementsAre("eval of the initial state" + result));
      // Of the program 'init': four ones.
      EXPECT_THAT(Lines(MustRun({artifact, "--eval-only", "--eval-data", rows}).output, "eval"),
                  ElementsAre("eval of the initial state  sum 4"));
    }
  }
}

TEST_F(SgdrunScreen, EvaluationNeedsStateAndData) {
  const std::string rows = Rows();
  const std::string artifact = Artifact({.ranks = 2, .has_eval = true});
  EXPECT_THAT(Run({artifact, "--eval-only", "--eval-data", rows}).errors,
              HasSubstr("is read by program 'eval', and is in none of --init, --resume and --eval-data"));
  const std::string init = Tensors("init", {{"arg0", {1, 4}}});
  EXPECT_THAT(Run({artifact, "--eval-only", "--init", init}).errors,
              HasSubstr("'x' (f32[8,4]) of program 'train' is read by program 'eval'"));
  EXPECT_THAT(Run({Artifact({.has_init = true}), "--eval-only", "--eval-data", rows}).errors, HasSubstr("'eval'"));
}

TEST_F(SgdrunScreen, ShowsTheMostExpensiveInstructions) {
  for (uint32_t ranks : {1u, 2u}) {
    const CommandResult result =
        MustRun({Artifact({.ranks = ranks}), "--bench", "2", "--profile", folder_ / "profile"});
    EXPECT_EQ(nlohmann::json::parse(result.output)["steps"], 2) << "standard output has the line of --bench alone";
    EXPECT_THAT(result.errors, StartsWith("name"));
    EXPECT_THAT(Lines(result.errors, "matmul f32 1x4x"), SizeIs(2));
    EXPECT_THAT(Lines(result.errors, "all_reduce"), SizeIs(ranks == 1 ? 0 : 1));
    double share = 0;
    for (const std::string& line : Lines(result.errors, "")) {
      const size_t percent = line.find(" %");
      if (percent != std::string::npos) share += std::stod(line.substr(line.rfind("  ", percent)));
    }
    EXPECT_NEAR(share, 100, 0.5) << result.errors;
  }
}

TEST_F(SgdrunScreen, AReaderMayGo) {
  const std::string inputs = Tensors("in", {{"arg0", {1, 4}}, {"x", {8, 4}}});
  const std::string artifact = Artifact({.ranks = 2, .train_name = "main"});
  for (const std::string& flags : {"--inputs '" + inputs + "'", std::string("--bench 2")}) {
    const std::string command = std::string("'") + SGDRUN + "' '" + artifact + "' " + flags + " 2> '" + folder_ / "err";
    EXPECT_EQ(std::system(("bash -c \"set -o pipefail; { sleep 0.1; " + command + "'; } | true\"").c_str()), 0);
    EXPECT_EQ(data::ReadText(folder_ / "err"), "");
  }
}

}  // namespace
}  // namespace sgd
