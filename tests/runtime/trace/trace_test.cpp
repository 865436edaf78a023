// Numbers are written so that they read back exactly, log lines as documented, and progress fits
// where it is shown.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "runtime/trace/instruction_time.h"
#include "runtime/trace/json_log.h"
#include "runtime/trace/progress.h"
#include "runtime/trace/scalar.h"

namespace sgd::trace {
namespace {

using artifact::ElementType;
using ::testing::HasSubstr;

template <typename T>
Scalar Make(ElementType element, T value) {
  return ReadScalar(element, std::as_bytes(std::span(&value, 1)));
}

TEST(Scalar, TextIsTheShortestThatReadsBack) {
  EXPECT_EQ(ScalarText(Make(ElementType::F32, 0.1f)), "0.1");
  EXPECT_EQ(ScalarText(Make(ElementType::F32, 2.3025851f)), "2.3025851");
  EXPECT_EQ(ScalarText(Make(ElementType::F64, 0.1)), "0.1");
  EXPECT_EQ(ScalarText(Make(ElementType::F64, double{0.1f})), "0.10000000149011612");
  EXPECT_EQ(ScalarText(Make<uint16_t>(ElementType::BF16, 0x3fc0)), "1.5");
  EXPECT_EQ(ScalarText(Make<uint16_t>(ElementType::F16, 0x3e00)), "1.5");
  EXPECT_EQ(ScalarText(Make<uint16_t>(ElementType::F16, 0x8001)), "-5.9604645e-08");
  EXPECT_EQ(ScalarText(Make<uint16_t>(ElementType::F16, 0xfc00)), "-inf");
  EXPECT_EQ(ScalarText(Make<uint8_t>(ElementType::F8E4M3FN, 0xfe)), "-448");
  EXPECT_EQ(ScalarText(Make<uint8_t>(ElementType::F8E4M3FN, 0x01)), "0.001953125");
  EXPECT_EQ(ScalarText(Make<uint8_t>(ElementType::F8E4M3FN, 0x7f)), "nan");
  EXPECT_EQ(ScalarText(Make<uint8_t>(ElementType::F8E5M2, 0x3d)), "1.25");
  EXPECT_EQ(ScalarText(Make<uint8_t>(ElementType::F8E5M2, 0x7c)), "inf");
  EXPECT_EQ(ScalarText(Make<uint64_t>(ElementType::U64, ~uint64_t{0})), "18446744073709551615");
  EXPECT_EQ(ScalarText(Make<int8_t>(ElementType::I8, -5)), "-5");
  EXPECT_EQ(ScalarText(Make<uint32_t>(ElementType::U32, 4000000000u)), "4000000000");
  EXPECT_EQ(ScalarText(Make<uint8_t>(ElementType::Bool, 1)), "true");
}

TEST(Scalar, EveryF32ReadsBack) {
  for (uint32_t bits = 0; bits < 0x7f800000; bits += 1'000'003) {
    const float value = std::bit_cast<float>(bits);
    EXPECT_EQ(std::strtof(ScalarText(Make(ElementType::F32, value)).c_str(), nullptr), value);
  }
}

TEST(StepJson, HasTheDocumentedForm) {
  const Scalar loss = Make(ElementType::F32, 2.57f);
  StepRecord record{.step = 3, .duration = absl::Milliseconds(1), .input = {}, .loss = loss, .outputs = {}};
  record.outputs = {{"result0", loss}, {"result[1]['n\"']", Make<int32_t>(ElementType::I32, 7)}};
  EXPECT_EQ(StepJson(record),
            R"({"step": 3, "seconds": 0.001, "loss": 2.57, "outputs": {"result0": 2.57, "result[1]['n\"']": 7}})");
  const Scalar bad = Make(ElementType::F32, std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(StepJson({.step = 0, .duration = absl::Seconds(2), .input = {}, .loss = bad, .outputs = {}}),
            R"({"step": 0, "seconds": 2, "loss": null, "outputs": {}})");
  EXPECT_EQ(StepJson({.step = 0, .duration = absl::Seconds(2), .input = absl::Seconds(1), .loss = {}, .outputs = {}}),
            R"({"step": 0, "seconds": 2, "input_seconds": 1, "outputs": {}})");
}

TEST(InstructionTimeJson, HasTheDocumentedForm) {
  artifact::ProgramT program;
  program.name = "train";
  program.locations = {"mlp.py:31:8"};
  program.scopes = {"", "encoder/layer0"};
  artifact::FillT fill;
  fill.target = std::make_unique<artifact::Slice>(artifact::Space::Private, 0, 64);
  auto instruction = std::make_unique<artifact::InstructionT>();
  instruction->op.Set(std::move(fill));
  instruction->flops = 84, instruction->bytes = 64, instruction->scope = 1;
  instruction->operations = {{artifact::OperationKind::Matmul, artifact::Precision::Half, 64},
                             {artifact::OperationKind::Transcendental, artifact::Precision::Single, 2}};
  program.instructions.push_back(std::move(instruction));
  flatbuffers::FlatBufferBuilder programs, roots;
  programs.Finish(artifact::Program::Pack(programs, &program));
  const artifact::ArtifactT root;
  roots.Finish(artifact::Artifact::Pack(roots, &root));
  EXPECT_EQ(InstructionTimeJson(*flatbuffers::GetRoot<artifact::Artifact>(roots.GetBufferPointer()),
                                *flatbuffers::GetRoot<artifact::Program>(programs.GetBufferPointer()), 0, 2,
                                absl::Nanoseconds(16)),
            R"({"instruction": 0, "op": "fill", "what": "", "microseconds": 0.016, "executions": 2, "flops": 84, )"
            R"("bytes": 64, "gflops_per_second": 10.5, "gbytes_per_second": 8, "operations": {"matmul half": 64, )"
            R"("transcendental single": 2}, "loc": "mlp.py:31:8", "scope": "encoder/layer0"})");
}

class JsonLogFile : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/sgd-log-XXXXXX";
    folder_ = mkdtemp(name);
  }
  void TearDown() override {
    unlink(Path().c_str());
    rmdir(folder_.c_str());
  }
  std::string Path() const { return folder_ + "/log.jsonl"; }
  std::string Read() const {
    std::stringstream text;
    text << std::ifstream(Path()).rdbuf();
    return text.str();
  }
  std::string folder_;
};

TEST_F(JsonLogFile, ReplacesOrContinuesAnOlderLog) {
  auto run = [&](LogStart start) {
    auto log = JsonLog::Open(Path(), start);
    ASSERT_TRUE(log.ok()) << log.status();
    EXPECT_TRUE(log->WriteLine("{}").ok());
    EXPECT_TRUE(log->WriteLine("[]").ok());
  };
  run(LogStart::kRefuse);
  run(LogStart::kReplace);
  EXPECT_EQ(Read(), "{}\n[]\n");
  run(LogStart::kAppend);
  EXPECT_EQ(Read(), "{}\n[]\n{}\n[]\n");
}

TEST_F(JsonLogFile, RefusesAnOlderLog) {
  std::ofstream(Path()) << "older\n";
  for (const absl::Status& status :
       {JsonLog::Open(Path(), LogStart::kRefuse).status(), JsonLog::CheckWritable(Path(), LogStart::kRefuse)})
    EXPECT_THAT(
        std::string(status.message()),
        HasSubstr("log.jsonl: exists; expected no file there; give another path, or delete it; --resume appends"));
  EXPECT_EQ(Read(), "older\n");
  EXPECT_TRUE(JsonLog::CheckWritable("/dev/null", LogStart::kRefuse).ok());
}

TEST_F(JsonLogFile, AppendsOnALineOfItsOwn) {
  std::ofstream(Path()) << "{\"step\": 0}\n{\"ste";
  EXPECT_TRUE(JsonLog::Open(Path(), LogStart::kAppend)->WriteLine("{}").ok());
  EXPECT_EQ(Read(), "{\"step\": 0}\n{\"ste\n{}\n");
}

TEST_F(JsonLogFile, SaysWhyItCannotWrite) {
  EXPECT_TRUE(JsonLog::CheckWritable(Path(), LogStart::kRefuse).ok());
  EXPECT_EQ(access(Path().c_str(), F_OK), -1);
  EXPECT_THAT(std::string(JsonLog::CheckWritable(folder_, LogStart::kRefuse).message()),
              HasSubstr("cannot open: Is a directory"));
  EXPECT_THAT(std::string(JsonLog::Open(folder_ + "/none/log", LogStart::kAppend).status().message()),
              HasSubstr("cannot open: No such file or directory"));
  auto full = JsonLog::Open("/dev/full", LogStart::kRefuse);
  ASSERT_TRUE(full.ok());
  EXPECT_THAT(std::string(full->WriteLine("{}").message()), HasSubstr("cannot write: No space left on device"));
}

// The file that a link leads to is probed, and what the probe makes is removed: not the link.
TEST_F(JsonLogFile, KeepsLinksToFilesThatAreNotThereYet) {
  const std::string link = Path() + ".link";
  for (const LogStart start : {LogStart::kReplace, LogStart::kRefuse, LogStart::kAppend}) {
    ASSERT_EQ(symlink("log.jsonl", link.c_str()), 0);
    EXPECT_TRUE(JsonLog::CheckWritable(link, start).ok());
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_FALSE(std::filesystem::exists(Path()));
    auto log = JsonLog::Open(link, start);
    ASSERT_TRUE(log.ok()) << log.status();
    EXPECT_TRUE(log->WriteLine("{}").ok());
    EXPECT_TRUE(std::filesystem::is_regular_file(Path()));
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    std::filesystem::remove(link);
    std::filesystem::remove(Path());
  }
}

TEST_F(JsonLogFile, FailsOnAPipeThatNobodyReads) {
  ASSERT_EQ(mkfifo(Path().c_str(), 0600), 0);
  const int reader = open(Path().c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  auto log = JsonLog::Open(Path(), LogStart::kAppend, SlowReader::kFail);
  ASSERT_TRUE(log.ok()) << log.status();
  absl::Status status;
  for (int line = 0; line < 10'000 && status.ok(); ++line) status = log->WriteLine(std::string(1000, 'x'));
  EXPECT_THAT(std::string(status.message()), HasSubstr("log.jsonl: cannot write"));
  close(reader);
}

std::string Shown(bool is_terminal) {
  char* data = nullptr;
  size_t size = 0;
  std::FILE* stream = open_memstream(&data, &size);
  {
    Progress progress(stream, is_terminal, 10, 2);
    progress.Step(10, "loss 2.5");
    progress.Line("eval  accuracy 0.5");
    progress.Step(11, "");
  }
  std::fclose(stream);
  std::string text(data, size);
  std::free(data);
  return text;
}

TEST(Progress, PlainLinesElsewhere) { EXPECT_EQ(Shown(false), "step 10  loss 2.5\neval  accuracy 0.5\nstep 11\n"); }

TEST(Progress, LinesEveryFewStepsAndForTheLast) {
  char* data = nullptr;
  size_t size = 0;
  std::FILE* stream = open_memstream(&data, &size);
  {
    Progress progress(stream, /*is_terminal=*/false, /*first=*/10, /*steps=*/6, /*every=*/4);
    for (uint64_t step = 10; step < 16; ++step) progress.Step(step, "");
  }
  std::fclose(stream);
  EXPECT_EQ(std::string(data, size), "step 10\nstep 14\nstep 15\n");
  std::free(data);
}

TEST(Progress, BarOnATerminal) {
  const std::string text = Shown(true);
  EXPECT_THAT(text, HasSubstr("[============            ] 11/12  loss 2.5"));
  EXPECT_THAT(text, HasSubstr("\r\033[Keval  accuracy 0.5\n"));
  EXPECT_THAT(text, HasSubstr("[========================] 12/12"));
  EXPECT_EQ(text.back(), '\n');
}

}  // namespace
}  // namespace sgd::trace
