// Parts that are shared count as often as they are used, whatever shares them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "runtime/artifact/container.h"
#include "runtime/artifact/reader.h"
#include "tests/runtime/artifact/sample_artifact.h"

namespace sgd::artifact {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(flatbuffers::FlatBufferBuilder& builder, flatbuffers::Offset<Program> program) {
  const std::vector<flatbuffers::Offset<Program>> programs = {program};
  builder.Finish(CreateArtifactDirect(builder, "test", "cpu", nullptr, nullptr, nullptr, nullptr, &programs),
                 ArtifactIdentifier());
  Sections sections;
  sections.program = {builder.GetBufferPointer(), builder.GetSize()};
  const absl::Time begin = absl::Now();
  const absl::Status status = ArtifactFile::FromBytes(*BuildContainer({sections}), "shared.sgda").status();
  EXPECT_LT(absl::Now() - begin, absl::Seconds(20));
  return std::string(status.message());
}

constexpr char kTooMuch[] = "bytes when each is counted where it is used";

// A group of 20,000 times the same launch, 20,000 times.
TEST(TreeSize, SharedTables) {
  flatbuffers::FlatBufferBuilder builder;
  const std::vector<flatbuffers::Offset<Launch>> launches(20'000, CreateLaunchDirect(builder));
  const auto group = CreateLaunchGroupDirect(builder, &launches);
  const std::vector<flatbuffers::Offset<Instruction>> instructions(
      20'000, CreateInstruction(builder, Operation::LaunchGroup, group.Union()));
  EXPECT_THAT(ErrorOf(builder, CreateProgramDirect(builder, "main", nullptr, nullptr, &instructions)),
              HasSubstr(kTooMuch));
}

// Numbers of 8 bytes that lie where only those of 4 may: dims that are in truth a vector of words.
TEST(TreeSize, ElementsOutOfAlignment) {
  for (const size_t remainder : {0u, 4u}) {
    flatbuffers::FlatBufferBuilder builder;
    builder.CreateVector(std::vector<uint64_t>(4));  // what the second number is read from
    flatbuffers::Offset<flatbuffers::Vector<uint32_t>> words;
    do {
      words = builder.CreateVector(std::vector<uint32_t>{0, 0});
    } while ((words.o - sizeof(uint32_t)) % sizeof(uint64_t) != remainder);
    TensorInfoBuilder tensor(builder);
    tensor.add_global_dims(flatbuffers::Offset<flatbuffers::Vector<uint64_t>>(words.o));
    const auto info = tensor.Finish();
    const Slice slice(Space::Private, 0, 0);
    const std::vector<flatbuffers::Offset<Input>> inputs = {
        CreateInput(builder, builder.CreateString("x"), info, &slice)};
    const std::string error = ErrorOf(builder, CreateProgramDirect(builder, "main", &inputs));
    EXPECT_EQ(error.find("is not a well-formed program, or shares") != std::string::npos, remainder != 0) << error;
  }
}

// 20,000 launches with one vector of 20,000 buffers.
TEST(TreeSize, SharedVectors) {
  flatbuffers::FlatBufferBuilder builder;
  const std::vector<Slice> slices(20'000, Slice(Space::Private, 0, 0));
  const auto buffers = builder.CreateVectorOfStructs(slices);
  std::vector<flatbuffers::Offset<Instruction>> instructions;
  for (int i = 0; i < 20'000; ++i) {
    const auto launch = CreateLaunch(builder, 0, buffers);
    instructions.push_back(CreateInstruction(builder, Operation::Launch, launch.Union()));
  }
  EXPECT_THAT(ErrorOf(builder, CreateProgramDirect(builder, "main", nullptr, nullptr, &instructions)),
              HasSubstr(kTooMuch));
}

// 20,000 locations with one text of a million letters.
TEST(TreeSize, SharedStrings) {
  flatbuffers::FlatBufferBuilder builder;
  const std::vector<flatbuffers::Offset<flatbuffers::String>> locations(
      20'000, builder.CreateString(std::string(1'000'000, 'x')));
  EXPECT_THAT(ErrorOf(builder, CreateProgramDirect(builder, "main", nullptr, nullptr, nullptr, &locations)),
              HasSubstr(kTooMuch));
}

// A program of 10,000 instructions, each on its own, is none of that.
TEST(TreeSize, LargeProgramsFit) {
  ArtifactWriter writer;
  testing::FillSample(writer, 1);
  ProgramT& program = *writer.artifact().programs[0];
  for (int i = 0; i < 10'000; ++i) testing::Append(program, LaunchT(*program.instructions[1]->op.AsLaunch()));
  EXPECT_TRUE(writer.Serialize().ok());
}

}  // namespace
}  // namespace sgd::artifact
