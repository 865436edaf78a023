// Batches are read before they are asked for, within bounds; slow and broken files are named.
#include "runtime/data/read_ahead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <cstring>
#include <mutex>

namespace sgd::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Fills inputs with the step's number. Waits at the steps that the test holds.
class HeldFeed : public Feed {
 public:
  std::span<const size_t> inputs() const override { return inputs_; }
  absl::Status Fill(uint64_t step, size_t i, const Shard& shard, std::span<std::byte> local,
                    ReadWatch& watch) const override {
    const WatchedRead read(watch, path_, local.size());
    std::unique_lock lock(mutex_);
    begun_ = step;
    changed_.notify_all();
    changed_.wait(lock, [&] { return step < held_; });
    if (step == broken) return absl::DataLossError("slow.npy: has become shorter while it was read");
    const auto value = static_cast<int32_t>(step);
    std::memcpy(local.data(), &value, sizeof(value));
    return absl::OkStatus();
  }

  void HoldFrom(uint64_t step) {
    const std::lock_guard lock(mutex_);
    held_ = step;
    changed_.notify_all();
  }
  void AwaitBegin(uint64_t step) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_ >= step; });
  }
  uint64_t begun() const {
    const std::lock_guard lock(mutex_);
    return begun_;
  }

  uint64_t broken = ~uint64_t{0};

 private:
  const std::vector<size_t> inputs_ = {0};
  const std::string path_ = "slow.npy";
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable uint64_t begun_ = 0;
  uint64_t held_ = ~uint64_t{0};
};

struct Reader {
  std::shared_ptr<HeldFeed> feed = std::make_shared<HeldFeed>();
  std::unique_ptr<ReadAhead> ahead;
  std::vector<std::string> notes;
  int32_t value = -1;

  void Start(ReadAhead::Options options, uint64_t elements = 1) {
    const TensorType type{ElementType::I32, {elements}, {elements}, {}};
    options.note = [this](const std::string& note) { notes.push_back(note); };
    auto started = ReadAhead::Start(feed, {{0, Shard(type, comm::Mesh{{1}}, 0)}}, options);
    ASSERT_TRUE(started.ok()) << started.status();
    ahead = *std::move(started);
  }
  absl::Status Take(uint64_t step) {
    const std::span<std::byte> targets[] = {std::as_writable_bytes(std::span(&value, 1))};
    return ahead->Take(step, targets);
  }
};

TEST(ReadAhead, GivesEachStepItsBatch) {
  Reader reader;
  reader.Start({.first_step = 5, .end_step = 105});
  for (uint64_t step = 5; step < 105; ++step) {
    ASSERT_TRUE(reader.Take(step).ok());
    EXPECT_EQ(reader.value, static_cast<int32_t>(step));
  }
  EXPECT_TRUE(reader.notes.empty());
}

TEST(ReadAhead, GivesStepsInAnyOrder) {
  Reader reader;
  reader.feed->broken = 7;
  reader.Start({.first_step = 0, .end_step = 20});
  for (uint64_t step : {0, 1, 2, 10, 11, 2, 3, 4, 5, 6, 20, 21, 19, 20, 0}) {
    ASSERT_TRUE(reader.Take(step).ok()) << step;
    EXPECT_EQ(reader.value, static_cast<int32_t>(step));
  }
  EXPECT_FALSE(reader.Take(7).ok());
  EXPECT_TRUE(reader.Take(8).ok());
}

TEST(ReadAhead, ReadsWhileNobodyAsksButNoMoreThanItKeeps) {
  Reader reader;
  reader.Start({.first_step = 0, .end_step = 1000});
  reader.feed->AwaitBegin(31);  // 32 batches without a step
  for (uint64_t step = 0; step < 16; ++step) ASSERT_TRUE(reader.Take(step).ok());
  reader.feed->AwaitBegin(47);  // of which half were taken
  EXPECT_EQ(reader.feed->begun(), 47u);
  EXPECT_EQ(reader.ahead->buffer_bytes(), 32 * sizeof(int32_t));
  Reader large;
  large.feed->HoldFrom(0);
  large.Start({.first_step = 0, .end_step = 1000}, uint64_t{20} << 20);  // 80 MiB
  EXPECT_EQ(large.ahead->buffer_bytes(), uint64_t{160} << 20);
  large.feed->HoldFrom(~uint64_t{0});
}

TEST(ReadAhead, NamesWhatAStepWaitsFor) {
  Reader reader;
  reader.feed->HoldFrom(1);
  reader.Start({.first_step = 0, .end_step = 3, .deadline = absl::Milliseconds(60), .slow = absl::Milliseconds(20)});
  ASSERT_TRUE(reader.Take(0).ok());
  const absl::Status status = reader.Take(1);
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()), HasSubstr("slow.npy: the data of step 1 was not there after 0.1 s"));
  EXPECT_THAT(reader.notes, ElementsAre(HasSubstr("slow.npy: step 1 has waited 0.0 s for its data so far")));
  reader.feed->HoldFrom(~uint64_t{0});
  ASSERT_TRUE(reader.Take(1).ok());
  ASSERT_TRUE(reader.Take(2).ok());
  ASSERT_EQ(reader.notes.size(), 2u);
  EXPECT_THAT(reader.notes[1], testing::MatchesRegex("slow.npy: reading 4 bytes of it took 0\\.[0-9] s"));
}

TEST(ReadAhead, FailsAtTheStepWhoseDataIsBroken) {
  Reader reader;
  reader.feed->broken = 3;
  reader.Start({.first_step = 0, .end_step = 9});
  for (uint64_t step = 0; step < 3; ++step) ASSERT_TRUE(reader.Take(step).ok()) << step;
  EXPECT_EQ(reader.Take(3).message(), "slow.npy: has become shorter while it was read");
  EXPECT_EQ(reader.Take(3).code(), absl::StatusCode::kDataLoss) << "it stays so";
}

TEST(ReadAhead, LeavesAReadThatHangs) {
  Reader reader;
  reader.feed->HoldFrom(0);
  reader.Start({.first_step = 0, .end_step = 9});
  reader.feed->AwaitBegin(0);
  reader.ahead.reset();  // returns though the read does not
  reader.feed->HoldFrom(~uint64_t{0});
}

}  // namespace
}  // namespace sgd::data
