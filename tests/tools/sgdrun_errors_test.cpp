// Messages of sgdrun when something is wrong: exit code 2 for usage, 1 for the rest, one line, and
// nothing written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/tools/command.h"
#include "tests/tools/toy_artifact.h"

namespace sgd {
namespace {

using data::Dims;
using data::ElementType;
using data::TemporaryFolder;
using ::testing::HasSubstr;

class SgdrunErrors : public ::testing::Test {
 protected:
  void SetUp() override { artifact_ = Artifact("toy.sgda", {}); }

  std::string Artifact(const std::string& name, ToyOptions options) {
    WriteToyArtifact(folder_ / name, options);
    return folder_ / name;
  }
  std::string Tensors(const std::string& name, const std::vector<std::pair<std::string, Dims>>& tensors,
                      ElementType element = ElementType::F32) {
    std::vector<data::TensorSpec> specs;
    for (const auto& [tensor, dims] : tensors) specs.push_back({tensor, element, dims});
    auto writer = data::TensorFileWriter::Create(folder_ / name, specs);
    EXPECT_TRUE(writer.ok() && writer->Commit().ok());
    return folder_ / name;
  }
  // Runs, expecting `exit_code`, one line on standard error with `message` in it, and nothing on
  // standard output.
  void Expect(int exit_code, const std::string& message, std::vector<std::string> arguments,
              const std::string& environment = "") {
    CommandResult result = RunCommand(SGDRUN, arguments, environment);
    EXPECT_EQ(result.exit_code, exit_code) << message;
    EXPECT_EQ(result.output, "");
    EXPECT_THAT(result.errors, HasSubstr(message));
    EXPECT_EQ(result.errors.rfind("sgdrun: ", 0), 0u) << result.errors;
    EXPECT_EQ(std::ranges::count(result.errors, '\n'), 1) << result.errors;
  }
  void ExpectWrongUsage(const std::string& message, std::vector<std::string> arguments) {
    Expect(2, message, arguments);
  }
  void ExpectFault(const std::string& message, std::vector<std::string> arguments) { Expect(1, message, arguments); }

  // Of ranks started one by one, one names the cause, and the other names that rank.
  void ExpectCauseOnce(const CommandResult& first, const CommandResult& second, const std::string& cause) {
    EXPECT_EQ(first.exit_code, 1) << first.errors;
    EXPECT_EQ(second.exit_code, 1) << second.errors;
    const bool is_first = first.errors.find(cause) != std::string::npos;
    EXPECT_THAT((is_first ? first : second).errors, HasSubstr(cause));
    EXPECT_THAT((is_first ? second : first).errors, HasSubstr(is_first ? "rank 0 says why" : "rank 1 says why"));
  }

  TemporaryFolder folder_;
  std::string artifact_;
};

// By itself, under the launcher and as one of several ranks that were started one by one.
TEST_F(SgdrunErrors, StepsThatDoNotEnd) {
  const std::string alone = Artifact("alone.sgda", {.is_endless = true});
  const std::string pair = Artifact("pair.sgda", {.ranks = 2, .is_endless = true});
  const std::string where = "(matmul) at toy.py:3:7: finished nothing in ";
  Expect(1, "rank 0: program 'train' instruction 2 " + where, {"-n", "1", alone, "--bench", "1", "--deadline", "1"});
  Expect(1, "program 'train' instruction 3 " + where, {"-n", "2", pair, "--bench", "1", "--deadline", "1"});
  CommandResult results[2];
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    ranks.emplace_back([&, rank] {
      results[rank] = RunCommand(
          SGDRUN, {pair, "--bench", "1", "--deadline", "2"},
          "RANK=" + std::to_string(rank) + " WORLD_SIZE=2 LOCAL_RANK=" + std::to_string(rank) +
              " LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=" + std::to_string(30000 + getpid() % 10000));
    });
  }
  for (std::thread& rank : ranks) rank.join();
  ExpectCauseOnce(results[0], results[1], "program 'train' instruction 3 " + where);
}

TEST_F(SgdrunErrors, WrongUsage) {
  ExpectWrongUsage("artifact is required", {});
  ExpectWrongUsage("--nonsense", {artifact_, "--nonsense"});
  ExpectWrongUsage("second", {artifact_, "second"});
  ExpectWrongUsage("--steps", {artifact_, "--steps", "many"});
  ExpectWrongUsage("--steps", {artifact_, "--steps", "0x0"});
  ExpectWrongUsage("--steps", {artifact_, "--steps", "-3"});
  ExpectWrongUsage("--bench", {artifact_, "--bench"});
  ExpectWrongUsage("-n", {artifact_, "-n", "0"});
  ExpectWrongUsage("--deadline", {artifact_, "--deadline", "-1"});
  ExpectWrongUsage("--deadline", {artifact_, "--deadline", "nan"});
  ExpectWrongUsage("--bench and --steps exclude each other", {artifact_, "--bench", "1", "--steps", "1"});
  ExpectWrongUsage("--init is for training", {artifact_, "--init", "a"});
  ExpectWrongUsage("--log-json is for training", {artifact_, "--bench", "1", "--log-json", "a"});
  ExpectWrongUsage("training starts from --init", {artifact_, "--steps", "1", "--inputs", "a"});
  ExpectWrongUsage("--data and --batches exclude each other",
                   {artifact_, "--steps", "1", "--data", "a", "--batches", "b"});
  ExpectWrongUsage("--keep needs --save", {artifact_, "--steps", "1", "--keep", "last=1"});
  for (const char* keep : {"3", "last=0", "last=-1", "last=few", "first=2"}) {
    ExpectWrongUsage(
        absl::StrCat("'", keep, "' is not understood; expected last=K or every=K with a K of 1 or more, as in last=3"),
        {artifact_, "--steps", "1", "--save", "a", "--keep", keep});
  }
  ExpectWrongUsage("'x' is no pair; expected INPUT=TENSOR, as in x=images",
                   {artifact_, "--steps", "1", "--data", "a", "--feed", "x"});
  ExpectWrongUsage("--data is missing", {artifact_, "--steps", "1", "--feed", "x=y"});
  ExpectWrongUsage("--save-every needs --save", {artifact_, "--steps", "1", "--save-every", "1"});
  ExpectWrongUsage("--eval-data needs --eval-every, or --eval-only", {artifact_, "--steps", "1", "--eval-data", "a"});
  for (const char* flag : {"--steps", "--data", "--save", "--outputs", "--eval-every", "--restarts"}) {
    ExpectWrongUsage(absl::StrCat("--eval-only runs no step of training: leave out ", flag),
                     {artifact_, "--eval-only", flag, "1"});
  }
  ExpectWrongUsage("--carry needs --steps or --bench", {artifact_, "--carry", "a:b"});
  ExpectWrongUsage("--null-kernels is for --bench", {artifact_, "--null-kernels"});
  ExpectWrongUsage("--profile is for --bench", {artifact_, "--profile", "p"});
  ExpectWrongUsage("--rank and --world-size belong together", {artifact_, "--rank", "0"});
  ExpectWrongUsage("--output-names", {artifact_, "--output-names", "mine"});
}

// Flags that would change nothing, or make numbers of what runs do not do.
TEST_F(SgdrunErrors, FlagsOfRunsWhereNothingRuns) {
  const std::vector<std::vector<std::string>> of_runs = {
      {"--null-kernels"}, {"--inputs", "a"}, {"--save", "a"},       {"--data", "a"}, {"--tune"},
      {"--eager"},        {"--steps", "1"},  {"--step-limit", "1"}, {"--seed", "1"}, {"--log-json", "a"}};
  for (std::vector<std::string> flags : of_runs) {
    const std::string name = flags[0];
    flags.insert(flags.end(), {"-n", "2", "--measure-topology", folder_ / "t.json"});
    ExpectWrongUsage("--measure-topology runs no artifact: leave out " + name, flags);
  }
  ExpectWrongUsage("--measure-topology runs no artifact: leave out --topology",
                   {"--topology", "--measure-topology", folder_ / "t.json"});
  ExpectWrongUsage("on several hosts needs -n, the ranks of each host",
                   {"--measure-topology", folder_ / "t.json", "--nnodes", "2", "--node-rank", "0"});
  ExpectWrongUsage("--node-rank is one of --nnodes", {"--measure-topology", folder_ / "t.json", "--node-rank", "1"});
  ExpectWrongUsage("--topology runs no artifact: leave out artifact", {artifact_, "--topology"});
  ExpectWrongUsage("--topology runs no artifact: leave out --inputs", {"--topology", "--inputs", "a"});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "t.json"));
}

TEST_F(SgdrunErrors, Artifact) {
  ExpectFault("none.sgda: ", {folder_ / "none.sgda"});
  data::WriteText(folder_ / "empty.sgda", "");
  ExpectFault("empty.sgda: ", {folder_ / "empty.sgda"});
  std::string bytes = data::ReadText(artifact_);
  bytes[bytes.size() / 2] ^= 1;
  data::WriteText(folder_ / "flipped.sgda", bytes);
  ExpectFault("flipped.sgda: ", {folder_ / "flipped.sgda"});
  ExpectFault("'eval'", {artifact_, "--program", "eval"});
  const std::string odd = Artifact("odd.sgda", {.train_name = "step", .has_init = true});
  ExpectFault("has neither a program 'main' nor 'train'; choose one of step, init with --program", {odd});
}

TEST_F(SgdrunErrors, RanksThatAreNotTheMeshs) {
  CommandResult result = RunCommand(SGDRUN, {Artifact("four.sgda", {.ranks = 4}), "-n", "3"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.errors, HasSubstr("3"));
  EXPECT_THAT(result.errors, HasSubstr("4"));
  EXPECT_EQ(std::ranges::count(result.errors, '\n'), 1) << result.errors;
}

TEST_F(SgdrunErrors, Inputs) {
  const std::string out = folder_ / "out";
  auto fault = [&](const std::string& message, const std::string& inputs) {
    ExpectFault(message, {artifact_, "--inputs", inputs, "--outputs", out});
  };
  fault("none: cannot open: No such file or directory", folder_ / "none");
  fault("input arg1 'x' (f32[8,4]) of program 'train' is not in --inputs", Tensors("part", {{"arg0", {1, 4}}}));
  fault("tensor 'arg0': is F32[4], but input 'params['w']' is F32[1,4]: it has 1 dimension and not 2; reshape it",
        Tensors("shape", {{"arg0", {4}}, {"arg1", {8, 4}}}));
  fault("tensor 'arg0': is I32[1,4], but input 'params['w']' is F32[1,4]: cast it to F32",
        Tensors("type", {{"arg0", {1, 4}}, {"arg1", {8, 4}}}, ElementType::I32));
  fault("tensor 'y': program 'train' has no such input", Tensors("name", {{"arg0", {1, 4}}, {"x", {8, 4}}, {"y", {}}}));
  fault("tensor 'arg2': program 'train' has no such input",
        Tensors("name2", {{"arg0", {1, 4}}, {"x", {8, 4}}, {"arg2", {}}}));
  fault("tensor 'x': input arg1 'x' (f32[8,4]) of program 'train' occurs twice",
        Tensors("twice", {{"arg0", {1, 4}}, {"x", {8, 4}}, {"arg1", {8, 4}}}));
  const std::string whole = data::ReadText(Tensors("good", {{"arg0", {1, 4}}, {"arg1", {8, 4}}}));
  data::WriteText(folder_ / "cut", whole.substr(0, whole.size() - 1));
  fault("it is truncated", folder_ / "cut");
  EXPECT_FALSE(std::filesystem::exists(out));
  ExpectFault("input arg0 'params['w']' (f32[1,4]) of program 'train' is not in --inputs", {artifact_});
}

TEST_F(SgdrunErrors, State) {
  const std::string batches = Tensors("batches", {{"step0.x", {8, 4}}});
  ExpectFault(
      "input arg0 'params['w']' (f32[1,4]) of program 'train' is in none of --init, --resume, "
      "--data "
      "and --batches, and there is no program 'init'",
      {artifact_, "--steps", "1", "--batches", batches});
  const std::string with_init = Artifact("init.sgda", {.has_init = true});
  ExpectFault(
      "input arg1 'x' (f32[8,4]) of program 'train' is in none of --init, --resume, --data, "
      "--batches "
      "and what program 'init' gives",
      {with_init, "--steps", "1"});
  ExpectFault("tensor 'step0.z': the program has no input 'z'",
              {with_init, "--steps", "1", "--batches", Tensors("z", {{"step0.z", {8, 4}}})});
  ExpectFault("is carried from step to step and cannot be fed",
              {with_init, "--steps", "1", "--batches", Tensors("w", {{"step0.arg0", {1, 4}}})});
}

TEST_F(SgdrunErrors, Data) {
  const std::string toy = Artifact("init.sgda", {.has_init = true});
  const std::string rows = Tensors("rows", {{"x", {20, 4}}, {"few", {5, 4}}});
  auto fault = [&](const std::string& message, const std::string& feed) {
    ExpectFault(message, {toy, "--steps", "1", "--data", rows, "--feed", feed});
  };
  fault("--feed: program 'train' has no input 'y'; there are ", "y=x");
  fault("--feed: program 'train' has no input 'params[w]'; did you mean 'params['w']'?", "params[w]=x");
  fault("tensor 'none': not in the file", "x=none");
  fault("has 5 rows, fewer than one batch of 8", "x=few");
  fault("--feed: input arg1 'x' (f32[8,4]) of program 'train' is fed twice", "x=x,arg1=x");
  ExpectFault("no tensor has the name of an input of program 'train'; say --feed",
              {toy, "--steps", "1", "--data", Tensors("other", {{"images", {20, 4}}})});
}

TEST_F(SgdrunErrors, Carry) {
  const std::string init = Tensors("init", {{"arg0", {1, 4}}, {"arg1", {8, 4}}});
  auto fault = [&](const std::string& message, const std::string& flag, const std::string& value) {
    ExpectFault(message, {artifact_, "--init", init, "--steps", "1", flag, value});
  };
  fault("--carry: 'result7:arg0' is not OUTPUT:INPUT of program 'train'; it has no output 'result7'; did you mean '",
        "--carry", "result7:arg0");
  fault(
      "cannot carry output result1 'result[1]['w']' (f32[1,4]) of program 'train' to input arg1 "
      "'x' "
      "(f32[8,4])",
      "--carry", "result1:arg1");
  fault("two outputs are carried to input arg0 'params['w']'", "--carry", "result1:arg0,result1:arg0");
  // Names may hold commas: all of a long text was tried as one, in time that grew with the cube of its length.
  std::string pairs;
  for (int pair = 0; pair < 30000; ++pair) pairs += "a:b,";
  timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  fault("--carry: 'a:b' is not OUTPUT:INPUT of program 'train'", "--carry", pairs);
  clock_gettime(CLOCK_MONOTONIC, &end);
  EXPECT_LT(end.tv_sec - begin.tv_sec, 15) << "minutes before";
  auto file_fault = [&](const std::string& message, const std::string& json) {
    data::WriteText(folder_ / "carry.json", json);
    fault("carry.json: " + message, "--carry-json", folder_ / "carry.json");
  };
  file_fault("is not JSON; it may be truncated", "[");
  file_fault("not a JSON list of [output, input]", "{}");
  file_fault("is nested more than 20 deep; expected fewer levels", std::string(1000000, '['));
  file_fault("is ambiguous: an object has the field \"a\" twice; expected each field once", R"([{"a":1,"a":2}])");
  file_fault("entry 0 is not a pair [output, input]", "[1]");
  file_fault("entry 1: program 'train' has no such input", "[[1, 0], [1, 2]]");
  file_fault("entry 0: program 'train' has no such output", "[[-1, 0]]");
}

TEST_F(SgdrunErrors, OutputsThatCannotBeWrittenStopTheRunBeforeItBegins) {
  const std::string init = Tensors("init", {{"arg0", {1, 4}}, {"arg1", {8, 4}}});
  const std::vector<std::string> train = {artifact_, "--init", init, "--steps", "1"};
  auto fault = [&](const std::string& message, std::vector<std::string> more) {
    more.insert(more.begin(), train.begin(), train.end());
    ExpectFault(message, more);
  };
  fault("none/out.partial: cannot create: No such file or directory", {"--outputs", folder_ / "none/out"});
  fault("not a regular file", {"--outputs", folder_.path()});
  fault("not a regular file", {"--outputs", "/dev/full"});
  fault("none/log: cannot open: No such file or directory", {"--log-json", folder_ / "none/log"});
  data::WriteText(folder_ / "file", "");
  fault("file/saved: cannot create: Not a directory", {"--save", folder_ / "file/saved"});
  fault("--loss: program 'train' has no output 'accuracy'", {"--loss", "accuracy"});
  fault("--loss: output result1 'result[1]['w']' (f32[1,4]) of program 'train' is not a scalar", {"--loss", "result1"});
  ExpectFault("cannot create", {artifact_, "--inputs", init, "--outputs", "/proc/out"});
  EXPECT_EQ(folder_.files(), 3u) << "artifact, init and file; nothing else may be left";
}

TEST_F(SgdrunErrors, Secrets) {
  const std::string file = folder_ / "secret";
  auto fault = [&](const std::string& message) {
    ExpectFault(message, {artifact_, "--bench", "1", "--secret-file", file});
  };
  fault("--secret-file: " + file + ": No such file or directory");
  data::WriteText(file, "sixteen letters!\n");
  chmod(file.c_str(), 0604);
  fault("--secret-file: " + file + " can be used by others than its owner (mode 0604); chmod 600 " + file);
  chmod(file.c_str(), 0640);
  fault("(mode 0640); chmod 600 " + file);
  chmod(file.c_str(), 0600);
  EXPECT_EQ(RunCommand(SGDRUN, {artifact_, "--bench", "1", "--secret-file", file}).exit_code, 0);
  data::WriteText(file, "fifteen letters\r\n");
  fault("--secret-file: " + file +
        " is a secret of 15 bytes, expected at least 16; make one with: openssl rand -hex 32");
  data::WriteText(file, "\n");
  fault("is empty");
  data::WriteText(file, std::string(4097, 'x'));
  fault("is too long");
  ExpectFault("--secret-file: " + folder_.path() + " is not a regular file",
              {artifact_, "--bench", "1", "--secret-file", folder_.path()});
  Expect(1, "SGD_SECRET is a secret of 5 bytes, expected at least 16", {artifact_, "--bench", "1"}, "SGD_SECRET=short");
}

TEST_F(SgdrunErrors, Checkpoints) {
  const std::string toy = Artifact("init.sgda", {.has_init = true});
  const std::string rows = Tensors("rows", {{"x", {20, 4}}});
  auto fault = [&](const std::string& message, std::vector<std::string> more) {
    std::vector<std::string> arguments = {toy, "--steps", "1", "--data", rows, "--resume", folder_ / "saved"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    ExpectFault(message, arguments);
  };
  fault("saved: cannot open: No such file or directory", {});
  ASSERT_EQ(
      RunCommand(SGDRUN, {toy, "--steps", "2", "--data", rows, "--seed", "4", "--save", folder_ / "saved"}).exit_code,
      0);
  fault("was trained with --seed 4, not 5; leave --seed out", {"--seed", "5"});
  const std::string state = folder_ / "saved/step-0000000002/state.safetensors";
  std::string bytes = data::ReadText(state);
  bytes.back() ^= 1;
  data::WriteText(state, bytes);
  fault("state.safetensors: is corrupt: its checksum is not the manifest's", {"--save", folder_ / "again"});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "again")) << "nothing may be made before everything is checked";
  fault("saved: holds no complete checkpoint: ", {});
  ExpectFault("saved: holds checkpoints of another run, the last after 2 steps; go on with that one by --resume",
              {toy, "--steps", "1", "--data", rows, "--save", folder_ / "saved"});
  std::filesystem::remove(folder_ / "saved/step-0000000002/manifest.json");
  fault("saved: holds no complete checkpoint", {});
}

// Steps that would train something else than the program means.
TEST_F(SgdrunErrors, UnknownCarry) {
  const std::string init = Tensors("init", {{"arg0", {1, 4}}, {"arg1", {8, 4}}});
  for (bool has_doubt : {false, true}) {
    const std::string toy = Artifact("unknown.sgda", {.is_carry_known = false, .has_carry_doubt = has_doubt});
    auto run = [&](std::vector<std::string> more) {
      more.insert(more.begin(), {toy, "--init", init});
      return RunCommand(SGDRUN, more);
    };
    const std::vector<std::pair<std::string, std::vector<std::string>>> uses = {
        {"--steps 2", {"--steps", "2"}}, {"--save", {"--steps", "1", "--save", folder_ / "saved"}}};
    for (const auto& [purpose, flags] : uses) {
      CommandResult refused = run(flags);
      EXPECT_EQ(refused.exit_code, 1);
      EXPECT_EQ(refused.output, "");
      EXPECT_THAT(refused.errors, HasSubstr("unknown.sgda: program 'train': " + purpose + " needs to know"));
      EXPECT_THAT(refused.errors,
                  HasSubstr(has_doubt ? "arg0 'params['w']' (f32[1,4])  undecided: result1 'result[1]['w']' "
                                        "(f32[1,4]): it may be a gradient"
                                      : "arg0 'params['w']' (f32[1,4])  the same"));
      EXPECT_THAT(refused.errors, HasSubstr(has_doubt ? "say --carry result1:arg0 if" : "say --carry OUT:IN,... if"));
    }
    EXPECT_FALSE(std::filesystem::exists(folder_ / "saved"));
    EXPECT_EQ(run({"--steps", "1"}).exit_code, 0);
    EXPECT_EQ(run({"--steps", "2", "--carry", "none"}).exit_code, 0);
    EXPECT_EQ(run({"--steps", "2", "--carry", "result1:arg0"}).exit_code, 0);
    EXPECT_EQ(RunCommand(SGDRUN, {toy, "--bench", "2"}).exit_code, 0);
    EXPECT_EQ(RunCommand(SGDRUN, {toy, "--inputs", init}).exit_code, 0);
  }
}

// A checkpoint is all of the state: what it lacks is not begun anew, and it goes on as it was trained.
TEST_F(SgdrunErrors, CheckpointsOfOtherState) {
  const std::string toy = Artifact("init.sgda", {.has_init = true});
  const std::string rows = Tensors("rows", {{"x", {20, 4}}});
  const std::string batches = Tensors("batches", {{"step0.x", {8, 4}}, {"step0.arg0", {1, 4}}});
  ASSERT_EQ(
      RunCommand(SGDRUN, {toy, "--steps", "2", "--batches", batches, "--carry", "none", "--save", folder_ / "saved"})
          .exit_code,
      0);
  ExpectFault("was trained with other outputs as the next step's inputs than these; say the --carry of that run again",
              {toy, "--steps", "1", "--data", rows, "--resume", folder_ / "saved"});
  CommandResult lacking = RunCommand(
      SGDRUN, {toy, "--steps", "1", "--data", rows, "--resume", folder_ / "saved", "--carry", "result1:arg0"});
  EXPECT_EQ(lacking.exit_code, 1);
  EXPECT_THAT(lacking.errors,
              HasSubstr("input arg0 'params['w']' (f32[1,4]) of program 'train' is neither in the checkpoint nor"));
}

TEST_F(SgdrunErrors, RanksStartedApartMustRunTheSame) {
  const std::string toy = Artifact("two.sgda", {.ranks = 2, .has_init = true});
  const std::string rows = Tensors("rows", {{"x", {20, 4}}});
  auto run = [&](const std::string& rank, const std::string& seed) {
    return RunCommand(SGDRUN, {toy, "--rank", rank, "--world-size", "2", "--rendezvous", folder_.path(), "--deadline",
                               "20", "--steps", "1", "--data", rows, "--seed", seed});
  };
  for (const std::string& seed : {"1", "2"}) {
    CommandResult first;
    std::thread thread([&] { first = run("0", "1"); });
    CommandResult second = run("1", seed);
    thread.join();
    const bool agree = seed == "1";
    EXPECT_EQ(second.output, "") << "only rank 0 prints results";
    if (!agree) {
      ExpectCauseOnce(first, second, "rank 0 and rank 1 differ: 'seed: 1' against 'seed: 2'");
      continue;
    }
    EXPECT_EQ(first.exit_code, 0) << first.errors;
    EXPECT_EQ(second.exit_code, 0) << second.errors;
  }
}

TEST_F(SgdrunErrors, ResultsThatNobodyTakes) {
  const std::string init = Tensors("init", {{"arg0", {1, 4}}, {"arg1", {8, 4}}});
  const std::string command = std::string("'") + SGDRUN + "' '" + artifact_ + "' --init '" + init + "' --steps 1000000";
  EXPECT_EQ(WEXITSTATUS(std::system((command + " > /dev/full 2> '" + folder_ / "errors" + "'").c_str())), 1);
  EXPECT_THAT(data::ReadText(folder_ / "errors"), HasSubstr("cannot write results to standard output"));
  EXPECT_EQ(std::system(("bash -c \"set -o pipefail; " + command +
                         " 2> /dev/null | head -1 > /dev/null; exit \\$((\\$? != 1))\"")
                            .c_str()),
            0);
}

TEST_F(SgdrunErrors, Evaluation) {
  const std::string rows = Tensors("rows", {{"x", {20, 4}}});
  const std::string without = Artifact("without.sgda", {.has_init = true});
  ExpectFault("'eval'", {without, "--steps", "1", "--data", rows, "--eval-every", "1", "--eval-data", rows});
  const std::string toy = Artifact("eval.sgda", {.has_init = true, .has_eval = true});
  ExpectFault(
      "input arg1 'x' (f32[8,4]) of program 'eval' is neither state of program 'train' nor in "
      "--eval-data, which is not given",
      {toy, "--steps", "1", "--data", rows, "--eval-every", "1"});
  ExpectFault(
      "is neither state of program 'train' nor in --eval-data",
      {toy, "--steps", "1", "--data", rows, "--eval-every", "1", "--eval-data", Tensors("other", {{"y", {20, 4}}})});
  CommandResult note =
      RunCommand(SGDRUN, {toy, "--steps", "1", "--data", rows, "--eval-every", "1", "--eval-data", rows});
  EXPECT_EQ(note.exit_code, 0);
  EXPECT_EQ(note.errors,
            "sgdrun: note: evaluation leaves out the last 4 of 20 rows, which do not fill a batch "
            "of 8\n");
}

}  // namespace
}  // namespace sgd
