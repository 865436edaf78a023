// Copies of the state in memory: what ranks fill together, what stays when they are gone, and saves beside them.
#include "runtime/checkpoint/shared_snapshots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <numeric>
#include <optional>
#include <vector>

#include "runtime/checkpoint/background_saves.h"
#include "runtime/checkpoint/checkpoint.h"
#include "tests/runtime/data/tensor_files.h"

namespace sgd::checkpoint {
namespace {

using data::ElementType;
using ::testing::HasSubstr;

constexpr uint64_t kRowsOfW = 8;

const std::vector<data::TensorSpec> kSpecs = {{"w", ElementType::I32, {kRowsOfW, 5}}, {"count", ElementType::I32, {}}};
const std::vector<uint64_t> kNone;
const Patience kPatience = {[] { return absl::OkStatus(); }, absl::Seconds(10)};

// A rank's state after `steps` steps: 'w', in rows over the first axis of a mesh of 2 times `replicas`, and a scalar.
struct RankState {
  RankState(uint32_t rank, uint32_t replicas, int32_t steps) : count(steps) {
    const comm::Mesh mesh{{2, replicas}};
    const data::Shard of_w({ElementType::I32, {kRowsOfW, 5}, {kRowsOfW / 2, 5}, {{{0, 1, 2}}, {}}}, mesh, rank);
    const data::Shard of_count({ElementType::I32, {}, {}, {}}, mesh, rank);
    std::vector<int32_t> global(kRowsOfW * 5);
    std::iota(global.begin(), global.end(), steps * 1000);
    w.resize(of_w.local_bytes() / sizeof(int32_t));
    of_w.CopyIn(std::as_bytes(std::span(global)), std::as_writable_bytes(std::span(w)));
    tensors.push_back({"w", of_w, std::as_bytes(std::span(w))});
    tensors.back().replica = of_w.replica();
    tensors.back().replicas = replicas;
    tensors.push_back({"count", of_count, std::as_bytes(std::span(&count, 1))});
    tensors.back().replica = of_count.replica();
    tensors.back().replicas = 2 * replicas;
  }

  std::vector<int32_t> w;
  int32_t count;
  std::vector<LocalTensor> tensors;
};

void ExpectState(const data::SafetensorsFile& file, int32_t steps) {
  const data::TensorEntry* w = file.Find("w");
  ASSERT_NE(w, nullptr);
  std::vector<int32_t> got(kRowsOfW * 5), want(kRowsOfW * 5);
  std::memcpy(got.data(), file.Bytes(*w).data(), w->size);
  std::iota(want.begin(), want.end(), steps * 1000);
  EXPECT_EQ(got, want);
  int32_t count = 0;
  std::memcpy(&count, file.Bytes(*file.Find("count")).data(), sizeof(count));
  EXPECT_EQ(count, steps);
}

// Without bytes.
std::vector<LocalTensor> PartsOf(uint32_t rank, uint32_t replicas) {
  std::vector<LocalTensor> tensors = RankState(rank, replicas, 0).tensors;
  for (LocalTensor& tensor : tensors) tensor.bytes = {};
  return tensors;
}

// With `has_others`, ranks get as much of another host.
std::unique_ptr<SharedSnapshots> Make(uint32_t ranks, uint32_t replicas = 1, bool has_others = false) {
  CopyLayout layout;
  layout.first_rank = 4;
  for (uint32_t rank = 0; rank < ranks; ++rank) layout.own.push_back(PartsOf(rank, replicas));
  if (has_others) layout.others = layout.own;
  auto made = SharedSnapshots::Create(
      kSpecs, std::move(layout),
      {.step = 0, .seed = 3, .program = "train", .artifact_hash = "abc", .mesh = {}, .feed = "rows 10", .carry = "c"});
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

// Runs `body` in a process of its own, which ends without a word as one that is killed does.
void InChild(const std::function<absl::Status()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body().ok() ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
}

TEST(SharedSnapshots, ProcessesFillACopyTogetherAndItOutlivesThem) {
  for (const uint32_t replicas : {1, 2, 3}) {
    const auto snapshots = Make(2 * replicas, replicas);
    EXPECT_EQ(snapshots->steps(), kNone);
    for (uint32_t rank = 0; rank < 2 * replicas; ++rank) {
      EXPECT_EQ(snapshots->steps(), kNone);
      InChild([&] { return snapshots->Take(7, rank, RankState(rank, replicas, 7).tensors, kPatience).status(); });
    }
    EXPECT_EQ(snapshots->steps(), std::vector<uint64_t>{7});
    EXPECT_EQ(snapshots->point().seed, 3u);
    EXPECT_TRUE(absl::IsNotFound(snapshots->Open(6).status()));
    const auto file = snapshots->Open(7);
    ASSERT_TRUE(file.ok()) << file.status();
    ExpectState(*file, 7);
  }
}

TEST(SharedSnapshots, TheOlderCopyCountsUntilTheNextIsWhole) {
  const auto snapshots = Make(2);
  const auto take = [&](uint32_t rank, int32_t steps) {
    return snapshots->Take(steps, rank, RankState(rank, 1, steps).tensors, kPatience).status();
  };
  // Both ranks take turns in one process here, which counts copies once for both.
  ASSERT_TRUE(take(0, 1).ok());
  snapshots->StartOver(std::nullopt);
  EXPECT_EQ(snapshots->steps(), kNone) << "half a copy counts for nothing";
  for (const int32_t steps : {1, 2}) {
    InChild([&] { return take(0, steps); });
    InChild([&] { return take(1, steps); });
    EXPECT_EQ(snapshots->steps().back(), static_cast<uint64_t>(steps));
    snapshots->StartOver(steps);
  }
  InChild([&] { return take(0, 3); });
  EXPECT_EQ(snapshots->steps(), std::vector<uint64_t>{2});
  ExpectState(*snapshots->Open(2), 2);
  snapshots->StartOver(2);
  // Those that come next do the third step again, and fill the same copy.
  InChild([&] { return take(1, 3); });
  InChild([&] { return take(0, 3); });
  EXPECT_EQ(snapshots->steps(), (std::vector<uint64_t>{2, 3}));
  ExpectState(*snapshots->Open(3), 3);
  // Those of another host have got no further: the older copy stays, and the newer one is filled again.
  snapshots->StartOver(2);
  EXPECT_EQ(snapshots->steps(), std::vector<uint64_t>{2});
  InChild([&] { return take(0, 3); });
  ExpectState(*snapshots->Open(2), 2);
}

TEST(SharedSnapshots, AnotherHostsStateCountsOnceAllRanksHaveAddedTheirs) {
  const auto snapshots = Make(2);
  for (const uint32_t rank : {0, 1}) {
    EXPECT_EQ(snapshots->StepsOfOtherHost(), kNone);
    InChild([&] {
      const auto copy = snapshots->Take(4, rank, RankState(rank, 1, 4).tensors, kPatience);
      if (copy.ok()) (*copy)->AddOfOtherHost(4);
      return copy.status();
    });
  }
  EXPECT_EQ(snapshots->StepsOfOtherHost(), std::vector<uint64_t>{4});
  snapshots->StartOver(4);
  for (const uint32_t rank : {0, 1})
    InChild([&] { return snapshots->Take(5, rank, RankState(rank, 1, 5).tensors, kPatience).status(); });
  EXPECT_EQ(snapshots->steps(), (std::vector<uint64_t>{4, 5}));
  EXPECT_EQ(snapshots->StepsOfOtherHost(), std::vector<uint64_t>{4});
  snapshots->StartOver(std::nullopt);
  EXPECT_EQ(snapshots->StepsOfOtherHost(), kNone);
}

TEST(SharedSnapshots, TheNewestCopyCanBeForgotten) {
  const auto snapshots = Make(1);
  const RankState first(0, 1, 1), second(0, 1, 2);
  ASSERT_TRUE(snapshots->Take(1, 0, first.tensors, kPatience).ok());
  ASSERT_TRUE(snapshots->Take(2, 0, second.tensors, kPatience).ok());
  ASSERT_EQ(snapshots->steps(), (std::vector<uint64_t>{1, 2}));
  snapshots->ForgetNewest();
  EXPECT_EQ(snapshots->steps(), std::vector<uint64_t>{1});
  snapshots->ForgetNewest();
  EXPECT_EQ(snapshots->steps(), kNone);
}

// Changes a bit, as a fault of memory does.
void Flip(std::span<std::byte> bytes, uint64_t bit) { bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8); }

// The rank that puts this byte of a tensor into a copy.
uint32_t OwnerOf(const CopyLayout& layout, size_t tensor, uint64_t byte) {
  for (uint32_t rank = 0; rank < layout.own.size(); ++rank) {
    const LocalTensor& part = layout.own[rank][tensor];
    bool is_here = false;
    part.shard.ForEachRunOfPart(part.replica, part.replicas, [&](uint64_t global, uint64_t, uint64_t bytes) {
      is_here = is_here || (byte >= global && byte < global + bytes);
    });
    if (is_here) return rank;
  }
  return UINT32_MAX;
}

TEST(SharedSnapshot, EveryFlippedBitOfACopyIsFound) {
  for (const uint32_t replicas : {1, 2, 3}) {
    auto layout = std::make_shared<CopyLayout>();
    layout->first_rank = 4;
    for (uint32_t rank = 0; rank < 2 * replicas; ++rank) layout->own.push_back(PartsOf(rank, replicas));
    layout->others = layout->own;
    const auto copy = *SharedSnapshot::Create(kSpecs, layout);
    for (uint32_t rank = 0; rank < 2 * replicas; ++rank) {
      const RankState state(rank, replicas, 3);
      copy->Fill(3, state.tensors, rank);
      for (size_t i = 0; i < kSpecs.size(); ++i)
        copy->SetChecksumOfOther(rank, i, ChecksumOf(state.tensors[i], state.tensors[i].bytes, /*is_global=*/false));
    }
    for (const bool of_others : {false, true}) {
      for (size_t i = 0; i < kSpecs.size(); ++i) {
        for (uint64_t bit = 0; bit < 8 * copy->tensor(i).size(); ++bit) {
          Flip(copy->tensor(i), bit);
          const std::optional<std::string> damage = copy->FindDamage(of_others);
          ASSERT_TRUE(damage) << kSpecs[i].name << " bit " << bit;
          EXPECT_THAT(*damage, HasSubstr("tensor '" + kSpecs[i].name + "' is not what rank "));
          EXPECT_THAT(*damage, HasSubstr(of_others ? " has received for it" : " has put there"));
          EXPECT_THAT(*damage, HasSubstr("rank " + std::to_string(4 + OwnerOf(*layout, i, bit / 8))));
          Flip(copy->tensor(i), bit);
        }
      }
      EXPECT_EQ(copy->FindDamage(of_others), std::nullopt);
    }
  }
}

// A copy that has changed is not used, and the other one is; what it has of another host is left out alone.
TEST(SharedSnapshots, CopiesThatHaveChangedAreForgotten) {
  for (const bool is_one_enough : {false, true}) {
    for (int flipped = 0; flipped < 8; ++flipped) {
      const auto snapshots = Make(1, 1, /*has_others=*/true);
      SharedSnapshot* copies[2];
      for (const int32_t steps : {6, 7}) {
        const RankState state(0, 1, steps);
        copies[steps - 6] = *snapshots->Take(steps, 0, state.tensors, kPatience);
        for (size_t i = 0; i < kSpecs.size(); ++i)
          copies[steps - 6]->SetChecksumOfOther(0, i, ChecksumOf(state.tensors[i], state.tensors[i].bytes, false));
        copies[steps - 6]->AddOfOtherHost(steps);
      }
      if (flipped & 1) Flip(copies[0]->tensor(0), 9);
      if (flipped & 2) Flip(copies[1]->tensor(0), 9);
      if (flipped & 4) copies[1]->SetChecksumOfOther(0, 1, {1, 2});
      const std::vector<std::string> told = snapshots->ForgetDamaged(is_one_enough);
      std::vector<uint64_t> whole, of_others;
      // With one that is enough, nobody looks at the older one.
      const bool keeps_older = !(flipped & 1) || (is_one_enough && !(flipped & 2));
      if (keeps_older) whole.push_back(6), of_others.push_back(6);
      if (!(flipped & 2)) whole.push_back(7);
      if (!(flipped & 6)) of_others.push_back(7);
      EXPECT_EQ(snapshots->steps(), whole) << flipped;
      EXPECT_EQ(snapshots->StepsOfOtherHost(), of_others) << flipped;
      EXPECT_EQ(told.size(), 4 - whole.size() - of_others.size() - (keeps_older ? 0 : 1) - (flipped & 2 ? 1 : 0))
          << flipped;
      if (flipped & 2) {
        EXPECT_EQ(told.at(0),
                  "the copy of the state in memory after 7 steps has changed: tensor 'w' is not what rank 4 has put "
                  "there; it is not used");
      } else if (flipped & 4) {
        EXPECT_EQ(told.at(0),
                  "the copy of the state in memory after 7 steps has changed: tensor 'count' is not what rank 4 has "
                  "received for it; what it has of another host is not used");
      }
    }
  }
}

TEST(SharedSnapshots, NeitherCopyIsLostWhileARankIsLate) {
  const auto snapshots = Make(2);
  const Patience none = {[] { return absl::AbortedError("rank 1: is gone"); }, absl::Seconds(10)};
  InChild([&] { return snapshots->Take(1, 1, RankState(1, 1, 1).tensors, kPatience).status(); });
  // Rank 0 is two steps ahead of rank 1: its next copy would overwrite the only whole one.
  InChild([&] {
    RankState first(0, 1, 1), second(0, 1, 2), third(0, 1, 3);
    if (!snapshots->Take(1, 0, first.tensors, kPatience).ok()) return absl::InternalError("first");
    if (!snapshots->Take(2, 0, second.tensors, kPatience).ok()) return absl::InternalError("second");
    const absl::Status status = snapshots->Take(3, 0, third.tensors, none).status();
    return absl::IsAborted(status) ? absl::OkStatus() : absl::InternalError("third");
  });
}

TEST(SharedSnapshots, WaitsEnd) {
  const auto snapshot = SharedSnapshot::Create(kSpecs, 2);
  ASSERT_TRUE(snapshot.ok());
  (*snapshot)->Fill(1, RankState(0, 1, 1).tensors);
  const Patience little = {[] { return absl::OkStatus(); }, absl::Milliseconds(5)};
  const absl::Status late = (*snapshot)->WaitUntilWhole(little);
  EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
  EXPECT_THAT(std::string(late.message()), HasSubstr("not all ranks have filled it within 5ms"));
  const absl::Status held = (*snapshot)->WaitUntilReleased(2, little);
  EXPECT_TRUE(absl::IsDeadlineExceeded(held)) << held;
  EXPECT_TRUE((*snapshot)->WaitUntilReleased(1, little).ok()) << "another rank has begun to fill it";
  (*snapshot)->Release();
  EXPECT_TRUE((*snapshot)->WaitUntilReleased(2, little).ok());
}

TEST(BackgroundSaves, WriteWhatASaveOfAllRanksWrites) {
  data::TemporaryFolder folder;
  ASSERT_TRUE(CheckWritable(folder / "saves").ok());
  const auto snapshot = SharedSnapshot::Create(kSpecs, 2);
  ASSERT_TRUE(snapshot.ok());
  TrainingPoint point{0, 3, "train", "abc", {{"data", 2}}, "rows 10", "c"};
  const auto saves = BackgroundSaves::Start(**snapshot, {.directory = folder / "saves", .keep = {.last = 2}});
  ASSERT_TRUE(saves.ok()) << saves.status();
  for (const int32_t steps : {10, 20, 30}) {
    ASSERT_TRUE((*snapshot)->WaitUntilReleased(steps, kPatience).ok());
    (*snapshot)->Fill(steps, RankState(0, 1, steps).tensors);
    point.step = steps;
    (*saves)->Save(point);  // waits for the other rank
    (*snapshot)->Fill(steps, RankState(1, 1, steps).tensors);
  }
  ASSERT_TRUE((*saves)->Finish(kPatience.poll).ok());
  const std::vector<SaveOutcome> ended = (*saves)->TakeEnded();
  ASSERT_EQ(ended.size(), 3u);
  for (const SaveOutcome& outcome : ended) {
    EXPECT_TRUE(outcome.status.ok() && outcome.removal.ok()) << outcome.status << outcome.removal;
    EXPECT_GT(outcome.bytes, kRowsOfW * 5 * 4);
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "saves/step-0000000010"));
  EXPECT_TRUE(std::filesystem::exists(folder / "saves/step-0000000020"));
  const auto opened = OpenCheckpoint(folder / "saves");
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->point.step, 30u);
  EXPECT_EQ(opened->point.carry, "c");
  ExpectState(opened->state, 30);
}

TEST(BackgroundSaves, AFailureLeavesNothingAndIsTold) {
  data::TemporaryFolder folder;
  const auto snapshot = SharedSnapshot::Create(kSpecs, 1);
  ASSERT_TRUE(snapshot.ok());
  const auto saves = BackgroundSaves::Start(**snapshot, {.directory = folder / "absent", .keep = {}});
  ASSERT_TRUE(saves.ok());
  (*snapshot)->Fill(5, RankState(0, 1, 5).tensors);
  (*saves)->Save({.step = 5, .seed = 0, .program = {}, .artifact_hash = {}, .mesh = {}, .feed = {}, .carry = {}});
  ASSERT_TRUE((*saves)->Finish(kPatience.poll).ok());
  const std::vector<SaveOutcome> ended = (*saves)->TakeEnded();
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_TRUE(absl::IsNotFound(ended[0].status)) << ended[0].status;
  EXPECT_TRUE((*snapshot)->WaitUntilReleased(6, kPatience).ok()) << "steps go on";
}

TEST(BackgroundSaves, TheEndOfARunDoesNotWaitForRanks) {
  data::TemporaryFolder folder;
  const auto snapshot = SharedSnapshot::Create(kSpecs, 2);
  ASSERT_TRUE(snapshot.ok());
  auto saves = BackgroundSaves::Start(**snapshot, {.directory = folder.path(), .keep = {}});
  ASSERT_TRUE(saves.ok());
  (*snapshot)->Fill(5, RankState(0, 1, 5).tensors);
  (*saves)->Save({.step = 5, .seed = 0, .program = {}, .artifact_hash = {}, .mesh = {}, .feed = {}, .carry = {}});
  saves->reset();
  EXPECT_EQ(folder.files(), 0u);
}

}  // namespace
}  // namespace sgd::checkpoint
