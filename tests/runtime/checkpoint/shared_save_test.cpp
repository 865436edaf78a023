// Checkpoints that several processes write, each a file of the pieces that its ranks hold: every element is there once,
// every damage is found, and what a process cannot write fails the save and no other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <numeric>

#include "runtime/checkpoint/background_saves.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/file_plan.h"
#include "runtime/checkpoint/save_reports.h"
#include "runtime/data/tensor_pieces.h"
#include "tests/runtime/data/tensor_files.h"

namespace sgd::checkpoint {
namespace {

using data::ElementType;
using data::ReadText;
using data::TemporaryFolder;
using data::TensorType;
using data::WriteText;
using ::testing::HasSubstr;

const comm::Mesh kMesh{{2, 2}};
constexpr uint32_t kRanks = 4;
const Patience kSavePatience = {[] { return absl::OkStatus(); }, absl::Seconds(30)};

struct Named {
  std::string name;
  TensorType type;
};

// Sharded by rows, by columns, by both with padding, in blocks, replicated and large, replicated and small, a scalar,
// one without elements, and names that look like those of pieces.
const std::vector<Named>& Tensors() {
  static const std::vector<Named> tensors = {
      {"rows", {ElementType::I32, {8, 5}, {4, 5}, {{{0, 1, 2}}, {}}}},
      {"columns", {ElementType::I32, {6, 8}, {6, 4}, {{}, {{1, 1, 2}}}}},
      {"padded", {ElementType::I32, {5, 7}, {3, 4}, {{{0, 1, 2}}, {{1, 1, 2}}}}},
      {"blocks", {ElementType::I32, {16, 3}, {8, 3}, {{{0, 1, 2}}, {}}, {2, 1}}},
      {"large", {ElementType::I32, {300, 200}, {300, 200}, {}}},
      {"large rows", {ElementType::I32, {300, 200}, {150, 200}, {{{1, 1, 2}}, {}}}},
      {"long", {ElementType::I32, {1, 40000}, {1, 40000}, {}}},
      {"small@1", {ElementType::I32, {3}, {3}, {}}},
      {"small", {ElementType::I32, {2}, {2}, {}}},
      {"count", {ElementType::I32, {}, {}, {}}},
      {"empty", {ElementType::I32, {0, 4}, {0, 4}, {}}}};
  return tensors;
}

std::vector<int32_t> GlobalValues(size_t tensor, int32_t steps) {
  uint64_t bytes = 0;
  data::TensorBytes(ElementType::I32, Tensors()[tensor].type.global_dims, bytes);
  std::vector<int32_t> values(bytes / sizeof(int32_t));
  std::iota(values.begin(), values.end(), static_cast<int32_t>(tensor + 1) * 1'000'000 + steps);
  return values;
}

// A rank's shards after `steps` steps.
struct MeshState {
  MeshState(uint32_t rank, int32_t steps) {
    for (size_t i = 0; i < Tensors().size(); ++i) {
      const data::Shard shard(Tensors()[i].type, kMesh, rank);
      bytes.emplace_back(shard.local_bytes(), std::byte{0xEE});
      const std::vector<int32_t> global = GlobalValues(i, steps);
      shard.CopyIn(std::as_bytes(std::span(global)), bytes.back());
      tensors.push_back({Tensors()[i].name, shard, bytes.back()});
      tensors.back().replica = shard.replica();
      tensors.back().replicas = kRanks / static_cast<uint32_t>(shard.shards());
    }
  }

  std::vector<std::vector<std::byte>> bytes;
  std::vector<LocalTensor> tensors;
};

void ExpectTensors(const data::SafetensorsFile& file, int32_t steps) {
  ASSERT_EQ(file.tensors().size(), Tensors().size());
  for (size_t i = 0; i < Tensors().size(); ++i) {
    const data::TensorEntry* entry = file.Find(Tensors()[i].name);
    ASSERT_NE(entry, nullptr) << Tensors()[i].name;
    EXPECT_EQ(entry->dims, Tensors()[i].type.global_dims);
    EXPECT_EQ(data::Values<int32_t>(file.Bytes(*entry)), GlobalValues(i, steps)) << Tensors()[i].name;
    file.Release(*entry);
  }
}

// Processes that write, each with the same number of ranks, in one.
class Writers {
 public:
  Writers(uint32_t count, const std::string& directory, KeepPolicy keep = {}, ZstdLevel level = kNotCompressed)
      : texts_(count) {
    const uint32_t ranks = kRanks / count;
    for (uint32_t index = 0; index < count; ++index) {
      FilePlan plan = PlanFile(index * ranks, ranks, [](uint32_t rank) { return MeshState(rank, 0).tensors; });
      images_.push_back(*SharedSnapshot::Create(std::move(plan), ranks));
      SharedSave shared{index, count, 0, [this, index](const std::string& text) { return Tell(index, text); },
                        [this](uint32_t of) { return Told(of); }};
      saves_.push_back(*BackgroundSaves::Start(*images_.back(), {directory, keep, level, shared}));
    }
  }

  void Begin(uint32_t index, int32_t steps) {
    const uint32_t ranks = images_[index]->ranks();
    ASSERT_TRUE(images_[index]->WaitUntilReleased(steps, kSavePatience).ok());
    for (uint32_t rank = index * ranks; rank < (index + 1) * ranks; ++rank)
      images_[index]->FillPieces(steps, rank, MeshState(rank, steps).tensors);
    saves_[index]->Save({static_cast<uint64_t>(steps), 3, "train", "abc", {{"data", 2}}, "rows 10", "c"});
  }

  // The outcomes on the first one.
  std::vector<SaveOutcome> Save(int32_t steps) {
    for (uint32_t index = 0; index < saves_.size(); ++index) Begin(index, steps);
    for (const auto& saves : saves_) EXPECT_TRUE(saves->Finish(kSavePatience.poll).ok());
    return saves_[0]->TakeEnded();
  }

  BackgroundSaves& saves(uint32_t index) { return *saves_[index]; }

 private:
  // Every other attempt is lost on its way.
  bool Tell(uint32_t index, const std::string& text) {
    std::lock_guard lock(mutex_);
    if (attempts_++ % 2 == 0) return false;
    texts_[index] = text;
    return true;
  }
  std::string Told(uint32_t index) {
    std::lock_guard lock(mutex_);
    return texts_[index];
  }

  std::mutex mutex_;
  int attempts_ = 0;
  std::vector<std::string> texts_;
  std::vector<std::unique_ptr<SharedSnapshot>> images_;
  std::vector<std::unique_ptr<BackgroundSaves>> saves_;
};

TEST(FilePlan, EveryElementIsWrittenOnce) {
  for (const uint32_t count : {2u, 4u}) {
    const uint32_t ranks = kRanks / count;
    std::map<std::string, std::vector<int>> times;
    uint64_t largest = 0, smallest = UINT64_MAX;
    for (uint32_t index = 0; index < count; ++index) {
      uint64_t bytes = 0;
      const FilePlan plan = PlanFile(index * ranks, ranks, [](uint32_t rank) { return MeshState(rank, 0).tensors; });
      for (const FilePlan::Piece& piece : plan.pieces) {
        const Named& tensor = Tensors()[piece.tensor];
        std::vector<int>& of = times[tensor.name];
        of.resize(GlobalValues(piece.tensor, 0).size());
        data::ForEachRunOfWhole(tensor.type.global_dims, 1, piece.region, [&](uint64_t at, uint64_t, uint64_t length) {
          for (uint64_t i = at; i < at + length; ++i) ++of[i];
          bytes += length;
        });
      }
      largest = std::max(largest, bytes);
      smallest = std::min(smallest, bytes);
    }
    ASSERT_EQ(times.size(), Tensors().size());
    for (const auto& [name, of] : times) EXPECT_EQ(std::ranges::count(of, 1), std::ssize(of)) << name;
    EXPECT_LT(largest - smallest, 1000u) << "files are of about equal size";
  }
}

class SharedSaves : public ::testing::TestWithParam<ZstdLevel> {
 protected:
  std::string Suffix() const { return GetParam() == kNotCompressed ? "" : kCompressedSuffix; }
};
INSTANTIATE_TEST_SUITE_P(SharedSave, SharedSaves, ::testing::Values(kNotCompressed, ZstdLevel{1}));

TEST_P(SharedSaves, FilesTogetherAreACheckpoint) {
  for (const uint32_t count : {2u, 4u}) {
    TemporaryFolder folder;
    Writers writers(count, folder.path(), {.last = 2}, GetParam());
    for (const int32_t steps : {10, 20, 30}) {
      const std::vector<SaveOutcome> ended = writers.Save(steps);
      ASSERT_EQ(ended.size(), 1u);
      EXPECT_TRUE(ended[0].status.ok() && ended[0].removal.ok()) << ended[0].status << ended[0].removal;
      EXPECT_GT(ended[0].bytes, 300u * 200 * 8);
      EXPECT_EQ(ended[0].bytes_on_disk < ended[0].bytes, GetParam() != kNotCompressed);
    }
    EXPECT_EQ(folder.files(), 2u);
    const auto opened = OpenCheckpoint(folder.path());
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ(opened->point.step, 30u);
    EXPECT_EQ(opened->point.carry, "c");
    ExpectTensors(opened->state, 30);
  }
}

TEST(SharedSave, ShardsOfOtherMeshesAreFilledFromPieces) {
  TemporaryFolder folder;
  Writers writers(4, folder.path());
  ASSERT_TRUE(writers.Save(5)[0].status.ok());
  const auto opened = OpenCheckpoint(folder.path());
  ASSERT_TRUE(opened.ok()) << opened.status();
  const TensorType types[] = {{ElementType::I32, {300, 200}, {100, 200}, {{{0, 1, 3}}, {}}},
                              {ElementType::I32, {300, 200}, {300, 67}, {{}, {{0, 1, 3}}}},
                              {ElementType::I32, {300, 200}, {102, 200}, {{{0, 1, 3}}, {}}, {2, 1}}};
  const data::TensorEntry& entry = *opened->state.Find("large rows");
  for (const TensorType& type : types) {
    for (uint32_t rank = 0; rank < 3; ++rank) {
      const data::Shard shard(type, comm::Mesh{{3}}, rank);
      std::vector<std::byte> want(shard.local_bytes()), got(shard.local_bytes());
      shard.CopyIn(opened->state.Bytes(entry), want);
      for (const data::TensorPieces::Piece& piece : opened->state.pieces()->PiecesOf(entry)) {
        const std::byte* from = piece.file->Bytes(*piece.entry).data();
        ForEachCommonRun(shard, piece.region, [&](uint64_t in_shard, uint64_t in_piece, uint64_t bytes) {
          std::memcpy(got.data() + in_shard, from + in_piece, bytes);
        });
      }
      EXPECT_EQ(got, want) << rank;
    }
  }
}

TEST_P(SharedSaves, EveryDamageOfAnyFileIsRefusedByName) {
  TemporaryFolder folder;
  Writers writers(2, folder.path(), {}, GetParam());
  for (const int32_t steps : {10, 20}) ASSERT_TRUE(writers.Save(steps)[0].status.ok());
  for (const uint32_t index : {0u, 1u}) {
    const std::string path = folder / ("step-0000000020/" + StateName(index, 2) + Suffix());
    const std::string whole = ReadText(path);
    const size_t cases = GetParam() == kNotCompressed ? 50 : 15;
    for (size_t i = 0; i < whole.size(); i += 1 + whole.size() / cases) {
      for (const bool cuts : {false, true}) {
        std::string bad = whole;
        bad[i] ^= 0x10;
        WriteText(path, cuts ? whole.substr(0, i) : bad);
        const auto opened = OpenCheckpoint(folder.path());
        ASSERT_TRUE(opened.ok()) << opened.status();
        EXPECT_EQ(opened->point.step, 10u);
        ASSERT_EQ(opened->passed_over.size(), 1u);
        EXPECT_THAT(opened->passed_over[0], HasSubstr(path + (cuts ? ": has " : ": is corrupt")));
      }
    }
    std::filesystem::remove(path);
    EXPECT_THAT(std::string(OpenOne(folder / "step-0000000020").status().message()), HasSubstr(path + ": cannot open"));
    WriteText(path, whole);
  }
  const std::string manifest = folder / "step-0000000020/manifest.json", whole = ReadText(manifest);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string bad = whole;
    bad[i] ^= 0x10;
    WriteText(manifest, bad);
    if (!std::isspace(whole[i])) EXPECT_FALSE(OpenOne(folder / "step-0000000020").ok()) << "byte " << i;
  }
  WriteText(manifest, whole);
  ExpectTensors(OpenOne(folder / "step-0000000020")->state, 20);
}

// A process that cannot write its file tells the first one, which leaves nothing of this checkpoint.
TEST(SharedSave, AFileThatCannotBeWrittenFailsTheSave) {
  TemporaryFolder folder;
  Writers writers(2, folder.path());
  ASSERT_TRUE(writers.Save(10)[0].status.ok());
  for (const uint32_t index : {0u, 1u}) {
    const int32_t steps = 20 + static_cast<int32_t>(index);
    const std::string in_the_way =
        folder / ("step-00000000" + std::to_string(steps) + ".partial/" + StateName(index, 2));
    std::filesystem::create_directories(in_the_way);
    const std::vector<SaveOutcome> ended = writers.Save(steps);
    ASSERT_EQ(ended.size(), 1u);
    EXPECT_FALSE(ended[0].status.ok());
    EXPECT_THAT(std::string(ended[0].status.message()), HasSubstr(in_the_way + ": cannot create"));
    EXPECT_EQ(folder.files(), 1u);
  }
  ASSERT_TRUE(writers.Save(30)[0].status.ok());
  ExpectTensors(OpenCheckpoint(folder.path())->state, 30);
}

TEST(SharedSave, FilesOfAnEarlierAttemptGo) {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder / "step-0000000010.partial");
  for (const char* name : {"state.safetensors", "state-00003-of-00004.safetensors", "manifest.json"})
    WriteText((folder / "step-0000000010.partial/") + name, "rest");
  Writers writers(2, folder.path());
  ASSERT_TRUE(writers.Save(10)[0].status.ok());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "step-0000000010"), {}), 3);
  ExpectTensors(OpenCheckpoint(folder.path())->state, 10);
}

TEST(SharedSave, TheEndOfARunDoesNotWaitForOtherProcesses) {
  TemporaryFolder folder;
  Writers writers(2, folder.path());
  writers.Begin(0, 10);
  const absl::Status status = writers.saves(0).Finish([] { return absl::AbortedError("rank 3: is gone"); });
  EXPECT_TRUE(absl::IsAborted(status)) << status;
  EXPECT_FALSE(OpenCheckpoint(folder.path()).ok());
}

TEST(SaveReports, LaterSavesDoNotHideEarlierOnes) {
  SaveReports reports;
  EXPECT_EQ(SaveReports::Find(reports.text(), 1), std::nullopt);
  reports.Add(1, StateFile{"a file", 7, "abc", 5, "def"});
  reports.Add(2, absl::ResourceExhaustedError("full:\nmake room " + std::string(2000, 'x')));
  ASSERT_LE(reports.text().size(), 1000u);
  const auto first = SaveReports::Find(reports.text(), 1), second = SaveReports::Find(reports.text(), 2);
  ASSERT_TRUE(first && first->ok());
  EXPECT_EQ((*first)->name, "a file");
  EXPECT_EQ((*first)->bytes, 7u);
  EXPECT_EQ((*first)->checksum, "abc");
  EXPECT_EQ((*first)->stored_bytes, 5u);
  EXPECT_EQ((*first)->stored_checksum, "def");
  ASSERT_TRUE(second && absl::IsResourceExhausted(second->status()));
  EXPECT_THAT(std::string(second->status().message()), HasSubstr("full: make room"));
  EXPECT_EQ(SaveReports::Find(reports.text(), 3), std::nullopt);
  for (const uint64_t number : {3, 4, 5}) reports.Add(number, absl::UnknownError(std::string(2000, 'y')));
  ASSERT_LE(reports.text().size(), 1000u);
  const auto gone = SaveReports::Find(reports.text(), 1);
  ASSERT_TRUE(gone && absl::IsUnavailable(gone->status()));
  for (const char* text : {"1 ok", "1 0 done", "1 ok x abc 0  name", "1 ok 3 abc x  name", "1 what 3 abc 0  name"}) {
    const auto bad = SaveReports::Find(text, 1);
    EXPECT_TRUE(!bad || !bad->ok()) << text;
  }
}

}  // namespace
}  // namespace sgd::checkpoint
