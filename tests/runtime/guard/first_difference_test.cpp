// Values of four ranks that one rank has, adds up, or does not have, and where wrong ones begin.
#include "runtime/guard/first_difference.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/runtime/artifact/sample_artifact.h"

namespace sgd::guard {
namespace {

using artifact::Space;
using Kind = DifferenceSource::Kind;
using Match = OneRankValues::Match;

constexpr uint32_t kRanks = 4;
constexpr std::array<const char*, 3> kLines = {"m.py:1:1", "m.py:2:1", "m.py:3:1"};

ValueSums Value(uint32_t instruction, uint64_t count, double sum, double squares) {
  return {.record = {.instruction = instruction,
                     .operand = 1,
                     .kind = RecordKind::kWritten,
                     .count = count,
                     .sum = sum,
                     .squares = squares,
                     .magnitudes = sum},
          .sum_limit = 1e-6,
          .squares_limit = 1e-6};
}

// Instruction 0, a launch, writes bytes 64 to 128 of the window; 1 reduces them to 128; 2, a launch, reads these and
// writes private memory.
class Programs : public ::testing::Test {
 protected:
  Programs() {
    artifact::ArtifactT root;
    auto kernel = std::make_unique<artifact::KernelT>();
    kernel->elements = {artifact::ElementType::F32, artifact::ElementType::F32};
    root.kernels.push_back(std::move(kernel));
    auto program = std::make_unique<artifact::ProgramT>();
    program->name = "main";
    for (const char* line : kLines) program->locations.push_back(line);
    AppendLaunch(*program, 0, artifact::Slice(Space::Private, 0, 64), artifact::Slice(Space::Window, 64, 64));
    artifact::CollectiveT reduce;
    reduce.kind = artifact::CollectiveKind::AllReduce;
    auto operand = std::make_unique<artifact::CollectiveOperandT>();
    operand->element = artifact::ElementType::F32;
    operand->source = testing::SliceAt(Space::Window, 64, 64);
    operand->target = testing::SliceAt(Space::Window, 128, 64);
    reduce.operands.push_back(std::move(operand));
    testing::Append(*program, std::move(reduce)).loc = 1;
    AppendLaunch(*program, 2, artifact::Slice(Space::Window, 128, 64), artifact::Slice(Space::Private, 256, 64));
    root.programs.push_back(std::move(program));
    builder_.Finish(artifact::Artifact::Pack(builder_, &root), artifact::ArtifactIdentifier());
    root_ = artifact::GetArtifact(builder_.GetBufferPointer());
  }

  static void AppendLaunch(artifact::ProgramT& program, uint32_t line, const artifact::Slice& read,
                           const artifact::Slice& written) {
    artifact::LaunchT launch;
    launch.buffers = {read, written};
    testing::Append(program, std::move(launch)).loc = line;
  }

  std::optional<DifferenceSource> SourceOf(const std::vector<ValueSums>& written, const OneRankValues& known) {
    std::vector<ValueSums> values;
    for (const ValueSums& value : written) {
      values.push_back({.record = {.instruction = value.record.instruction, .kind = RecordKind::kExecution}});
      values.push_back(value);
    }
    const FirstDifference walk(program(), root_->kernels(), values, known, kRanks);
    return walk.SourceOf(artifact::Slice(Space::Private, 256, 64));
  }

  const artifact::Program& program() const { return *root_->programs()->Get(0); }

  // On one rank: 16 values each of line 1 (sum 10) and 3 (sum 30).
  OneRankValues Known() const { return {program(), {Value(0, 16, 10, 40), Value(2, 16, 30, 100)}}; }

  flatbuffers::FlatBufferBuilder builder_;
  const artifact::Artifact* root_ = nullptr;
};

TEST_F(Programs, FindsShardsReplicasAndSummands) {
  const OneRankValues known = Known();
  EXPECT_EQ(known.Find(Value(0, 4, 10, 40), "m.py:9:1", kRanks), Match::kEqual);    // four shards
  EXPECT_EQ(known.Find(Value(0, 16, 40, 160), "m.py:9:1", kRanks), Match::kEqual);  // four replicas
  EXPECT_EQ(known.Find(Value(0, 8, 20, 80), "m.py:9:1", kRanks), Match::kEqual);    // two shards of two replicas each
  EXPECT_EQ(known.Find(Value(0, 5, 10, 40), "m.py:9:1", kRanks), Match::kEqual);    // 20 elements, four of them padding
  EXPECT_EQ(known.Find(Value(0, 16, 10, 17), "m.py:9:1", kRanks), Match::kSummands);
  EXPECT_EQ(known.Find(Value(0, 16, 11, 40), "m.py:9:1", kRanks), Match::kUnknown);
  EXPECT_EQ(known.Find(Value(0, 16, 11, 40), kLines[0], kRanks), Match::kDiffers);
  EXPECT_EQ(known.Find(Value(0, 17, 10, 40), kLines[0], 1), Match::kUnknown);
  ValueSums alike = Value(0, 16, 20, 17);  // half of it on every rank
  alike.is_alike = true;
  EXPECT_NE(known.Find(alike, "m.py:9:1", kRanks), Match::kSummands);
}

TEST_F(Programs, FindsNothingWhereTheResultIsRight) {
  EXPECT_FALSE(SourceOf({Value(0, 16, 10, 17), Value(1, 16, 40, 160), Value(2, 16, 120, 400)}, Known()).has_value());
  // What is wrong before, and lost, does not matter.
  EXPECT_FALSE(SourceOf({Value(0, 16, 11, 17), Value(1, 16, 41, 160), Value(2, 16, 120, 400)}, Known()).has_value());
}

TEST_F(Programs, BlamesACollectiveWhoseOperandIsRight) {
  const auto source = SourceOf({Value(0, 16, 10, 17), Value(1, 16, 41, 160), Value(2, 16, 121, 400)}, Known());
  ASSERT_TRUE(source.has_value());
  EXPECT_EQ(source->kind, Kind::kDiffers);
  EXPECT_EQ(source->instruction, 1u);
  EXPECT_FALSE(source->summands || source->begin);
}

TEST_F(Programs, SaysWhereUnknownValuesBegin) {
  const OneRankValues known(program(), {Value(2, 16, 30, 100)});
  const auto source = SourceOf({Value(0, 16, 11, 17), Value(1, 16, 41, 160), Value(2, 16, 121, 400)}, known);
  ASSERT_TRUE(source.has_value());
  EXPECT_EQ(source->kind, Kind::kDiffers);
  EXPECT_EQ(source->instruction, 2u);
  EXPECT_EQ(source->begin, 0u);
}

TEST_F(Programs, NamesSummandsThatNothingAddsUp) {
  const auto left = SourceOf({Value(2, 16, 30, 17)}, Known());
  ASSERT_TRUE(left.has_value());
  EXPECT_EQ(left->kind, Kind::kSummands);
  EXPECT_EQ(left->instruction, 2u);
  // The reduction has done nothing.
  const auto read = SourceOf({Value(0, 16, 10, 17), Value(1, 16, 10, 17), Value(2, 16, 121, 400)}, Known());
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->instruction, 2u);
  EXPECT_EQ(read->summands, 1u);
}

TEST_F(Programs, AddsUpExecutionsOfLoops) {
  // Twice in a loop, each time half of the rows on each rank.
  const std::vector<ValueSums> values = {Value(2, 2, 12, 60), Value(2, 2, 18, 40)};
  EXPECT_FALSE(SourceOf(values, Known()).has_value());
  EXPECT_TRUE(SourceOf({values[0], values[0]}, Known()).has_value());
}

}  // namespace
}  // namespace sgd::guard
