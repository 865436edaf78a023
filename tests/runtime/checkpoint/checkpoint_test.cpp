// Checkpoints are whole or absent, are found, survive a change of ranks, and are refused with their
// cause when damaged.
#include "runtime/checkpoint/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <numeric>

#include "runtime/artifact/container.h"
#include "runtime/checkpoint/save.h"
#include "runtime/json/json_text.h"
#include "tests/runtime/comm/meeting_threads.h"
#include "tests/runtime/data/tensor_files.h"

namespace sgd::checkpoint {
namespace {

using data::ElementType;
using data::ReadText;
using data::TemporaryFolder;
using data::WriteText;
using ::testing::HasSubstr;

constexpr uint64_t kRows = 12;

data::TensorType ShardedType(uint32_t ranks) {
  return {ElementType::I32, {kRows, 2}, {kRows / ranks, 2}, {{{0, 1, ranks}}, {}}};
}

// Saves 'w', a tensor counting from `base` sharded over `ranks`, and the replicated scalar 'count'.
absl::Status SaveCounting(const std::string& directory, uint64_t step, uint32_t ranks, int32_t base,
                          bool spans_hosts = false, std::vector<std::pair<std::string, double>> metrics = {},
                          ZstdLevel level = kNotCompressed) {
  std::vector<int32_t> global(kRows * 2);
  std::iota(global.begin(), global.end(), base);
  TrainingPoint point{step, 5, "train", "abc", {{"data", ranks}}, "rows 10", {}, metrics};
  std::vector<absl::Status> outcomes = comm::RunMeetingRanks(
      ranks,
      [&](comm::Control& control) {
        const comm::Mesh mesh{{ranks}};
        data::Shard w(ShardedType(ranks), mesh, control.rank());
        data::Shard count({ElementType::I32, {}, {}, {}}, mesh, control.rank());
        std::vector<int32_t> local(w.local_bytes() / 4);
        w.CopyIn(std::as_bytes(std::span(global)), std::as_writable_bytes(std::span(local)));
        std::vector<LocalTensor> state = {{"w", w, std::as_bytes(std::span(local))},
                                          {"count", count, std::as_bytes(std::span(&base, 1))}};
        return Save(directory, point, state, control, absl::Seconds(10), level);
      },
      spans_hosts);
  for (const absl::Status& outcome : outcomes) {
    if (!outcome.ok()) return outcome;
  }
  return absl::OkStatus();
}

TEST(Checkpoint, SavesAndFindsTheNewest) {
  TemporaryFolder folder;
  const std::string directory = folder / "deep/checkpoints";
  ASSERT_TRUE(CheckWritable(directory).ok());
  for (uint64_t step : {8, 100, 20}) ASSERT_EQ(SaveCounting(directory, step, 4, step), absl::OkStatus());
  std::filesystem::create_directory(directory + "/step-0000000200.partial");
  std::filesystem::create_directory(directory + "/step-0000000300");  // never got its manifest

  auto checkpoint = OpenCheckpoint(directory);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  EXPECT_EQ(checkpoint->path, directory + "/step-0000000100");
  EXPECT_EQ(checkpoint->point.step, 100u);
  EXPECT_EQ(checkpoint->point.seed, 5u);
  EXPECT_EQ(checkpoint->point.program, "train");
  EXPECT_EQ(checkpoint->point.mesh.at(0).second, 4u);
  const data::TensorEntry* w = checkpoint->state.Find("w");
  ASSERT_NE(w, nullptr);
  std::vector<int32_t> expected(kRows * 2);
  std::iota(expected.begin(), expected.end(), 100);
  EXPECT_EQ(data::Values<int32_t>(checkpoint->state.Bytes(*w)), expected);
  EXPECT_EQ(data::Values<int32_t>(checkpoint->state.Bytes(*checkpoint->state.Find("count"))),
            std::vector<int32_t>{100});

  auto chosen = OpenCheckpoint(directory + "/step-0000000020");
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_EQ(chosen->point.step, 20u);
}

TEST(Checkpoint, BytesDoNotDependOnTheNumberOfRanks) {
  TemporaryFolder folder;
  for (uint32_t ranks : {1u, 2u, 4u}) {
    std::filesystem::create_directory(folder / std::to_string(ranks));
    ASSERT_EQ(SaveCounting(folder / std::to_string(ranks), 1, ranks, 3), absl::OkStatus());
  }
  const std::string one = ReadText(folder / "1/step-0000000001/state.safetensors");
  EXPECT_EQ(one, ReadText(folder / "2/step-0000000001/state.safetensors"));
  EXPECT_EQ(one, ReadText(folder / "4/step-0000000001/state.safetensors"));
}

TEST(Checkpoint, OfSeveralHostsIsWrittenByRank0Alone) {
  TemporaryFolder folder;
  for (const bool spans_hosts : {false, true}) {
    const std::string directory = folder / (spans_hosts ? "several" : "one");
    std::filesystem::create_directory(directory);
    ASSERT_EQ(SaveCounting(directory, 1, 4, 3, spans_hosts), absl::OkStatus());
  }
  EXPECT_EQ(ReadText(folder / "one/step-0000000001/state.safetensors"),
            ReadText(folder / "several/step-0000000001/state.safetensors"));
}

TEST(Checkpoint, ReplacesOneOfTheSameStep) {
  TemporaryFolder folder;
  ASSERT_EQ(SaveCounting(folder.path(), 7, 2, 1), absl::OkStatus());
  ASSERT_EQ(SaveCounting(folder.path(), 7, 1, 50), absl::OkStatus());
  EXPECT_EQ(folder.files(), 1u);
  auto checkpoint = OpenCheckpoint(folder.path());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  EXPECT_EQ(data::Values<int32_t>(checkpoint->state.Bytes(*checkpoint->state.Find("count"))), std::vector<int32_t>{50});
}

TEST(Checkpoint, TakesOverAnInterruptedSave) {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder / "step-0000000007.partial");
  WriteText(folder / "step-0000000007.partial/state.safetensors.partial", "rest");
  ASSERT_EQ(SaveCounting(folder.path(), 7, 2, 1), absl::OkStatus());
  EXPECT_EQ(folder.files(), 1u);
  EXPECT_TRUE(OpenCheckpoint(folder.path()).ok());
}

TEST(Checkpoint, ACompressedOneHasTheSameTensors) {
  TemporaryFolder folder;
  ASSERT_EQ(SaveCounting(folder.path(), 7, 2, 1), absl::OkStatus());
  const std::string plain = ReadText(folder / "step-0000000007/state.safetensors");
  for (const bool spans_hosts : {false, true}) {
    ASSERT_EQ(SaveCounting(folder.path(), 8, 2, 1, spans_hosts, {}, ZstdLevel{3}), absl::OkStatus());
    EXPECT_THAT(ReadText(folder / "step-0000000008/manifest.json"), HasSubstr("\"format\": 4"));
    EXPECT_FALSE(std::filesystem::exists(folder / "step-0000000008/state.safetensors"));
    for (const Depth depth : {Depth::kStored, Depth::kDecompressed}) {
      const auto opened = OpenOne(folder / "step-0000000008", depth);
      ASSERT_TRUE(opened.ok()) << opened.status();
      EXPECT_EQ(opened->files.at(0).bytes, plain.size());
      EXPECT_EQ(opened->files.at(0).bytes_on_disk(),
                std::filesystem::file_size(folder / "step-0000000008/state.safetensors.zst"));
      std::vector<int32_t> expected(kRows * 2);
      std::iota(expected.begin(), expected.end(), 1);
      EXPECT_EQ(data::Values<int32_t>(opened->state.Bytes(*opened->state.Find("w"))), expected);
    }
  }
}

// The manifest's own checksum is right: what it says is still not believed.
TEST(Checkpoint, ManifestsOfCompressedFilesAreChecked) {
  TemporaryFolder folder;
  ASSERT_EQ(SaveCounting(folder.path(), 7, 2, 1, false, {}, ZstdLevel{1}), absl::OkStatus());
  const std::string path = folder / "step-0000000007/manifest.json";
  const nlohmann::json whole = nlohmann::json::parse(ReadText(path));
  const auto message = [&](const std::function<void(nlohmann::json&)>& change) {
    nlohmann::json manifest = whole;
    manifest.erase("checksum");
    change(manifest);
    const std::string text = json::WriteJson(manifest);
    manifest["checksum"] =
        artifact::HexHash(*artifact::Sha256({reinterpret_cast<const uint8_t*>(text.data()), text.size()}));
    WriteText(path, json::WriteJson(manifest));
    return std::string(OpenOne(folder / "step-0000000007", Depth::kDecompressed).status().message());
  };
  EXPECT_EQ(message([](nlohmann::json&) {}), "");
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{4095}, uint64_t{1} << 27})
    EXPECT_THAT(message([&](nlohmann::json& json) { json["frame_bytes"] = bytes; }), HasSubstr("lacks fields"));
  EXPECT_THAT(message([](nlohmann::json& json) { json["compression"] = "lz4"; }), HasSubstr("lacks fields"));
  EXPECT_THAT(message([](nlohmann::json& json) { json["files"][0]["name"] = "../x.zst"; }), HasSubstr("lacks fields"));
  EXPECT_THAT(message([](nlohmann::json& json) { json["files"][0].erase("stored_xxh3"); }), HasSubstr("lacks fields"));
  EXPECT_THAT(message([](nlohmann::json& json) { json["files"] = nlohmann::json::array(); }),
              HasSubstr("lacks fields"));
  EXPECT_THAT(message([](nlohmann::json& json) { json["files"][0]["bytes"] = uint64_t{1} << 60; }),
              HasSubstr("state.safetensors.zst: has 1 frames, but 1152921504606846976 bytes are "));
  EXPECT_THAT(message([](nlohmann::json& json) { json["files"][0]["stored_bytes"] = 5; }),
              HasSubstr("bytes, but the manifest says 5;"));
  EXPECT_THAT(message([](nlohmann::json& json) { json["files"][0]["xxh3"] = "abc"; }),
              HasSubstr("state.safetensors.zst: is corrupt: the checksum of what it decompresses to is not"));
}

class EveryDamage : public ::testing::TestWithParam<ZstdLevel> {};
INSTANTIATE_TEST_SUITE_P(Checkpoint, EveryDamage, ::testing::Values(kNotCompressed, ZstdLevel{1}));

TEST_P(EveryDamage, IsRefused) {
  TemporaryFolder folder;
  ASSERT_EQ(SaveCounting(folder.path(), 7, 2, 1, false, {}, GetParam()), absl::OkStatus());
  const char* state = GetParam() == kNotCompressed ? "state.safetensors" : "state.safetensors.zst";
  for (const char* name : {state, "manifest.json"}) {
    const std::string path = folder / ("step-0000000007/" + std::string(name));
    const std::string whole = ReadText(path);
    // ZstdFrames has a test of more damages.
    const size_t step = GetParam() == kNotCompressed ? 1 : 4;
    for (size_t i = 0; i < whole.size(); i += step) {
      std::string bad = whole;
      bad[i] ^= 0x10;
      WriteText(path, bad);
      auto checkpoint = OpenCheckpoint(folder.path());
      // White space between JSON tokens carries nothing, so a flip of it may pass; anything else
      // must not.
      if (checkpoint.ok()) EXPECT_TRUE(std::isspace(whole[i])) << name << " byte " << i;
      WriteText(path, whole.substr(0, i));
      if (!(i + 1 == whole.size() && whole[i] == '\n'))
        EXPECT_FALSE(OpenCheckpoint(folder.path()).ok()) << name << " cut at " << i;
    }
    WriteText(path, whole);
  }
  EXPECT_TRUE(OpenCheckpoint(folder.path()).ok());
}

TEST(Checkpoint, SaysWhatIsWrong) {
  TemporaryFolder folder;
  auto message = [&] { return std::string(OpenCheckpoint(folder.path()).status().message()); };
  EXPECT_EQ(message(), folder.path() + ": holds no complete checkpoint; expected folders step-* that --save wrote");
  EXPECT_THAT(std::string(OpenCheckpoint(folder / "none").status().message()), HasSubstr("cannot open: No such file"));

  ASSERT_EQ(SaveCounting(folder.path(), 7, 1, 1), absl::OkStatus());
  const std::string state = folder / "step-0000000007/state.safetensors";
  const std::string manifest = folder / "step-0000000007/manifest.json";
  const std::string state_text = ReadText(state);
  WriteText(state, state_text.substr(0, 50));
  EXPECT_THAT(message(), HasSubstr("state.safetensors: has 50 bytes, but the manifest says"));
  std::string flipped = state_text;
  flipped.back() ^= 1;
  WriteText(state, flipped);
  EXPECT_THAT(message(), HasSubstr("state.safetensors: is corrupt: its checksum is not the manifest's"));
  std::filesystem::remove(state);
  EXPECT_THAT(message(), HasSubstr("state.safetensors: cannot open: No such file"));
  WriteText(manifest, "{\"format\": 9}");
  EXPECT_THAT(message(), HasSubstr("manifest.json: has format 9, but this version reads formats 1 to 4"));
  WriteText(manifest, "[]");
  EXPECT_THAT(message(), HasSubstr("manifest.json: is not a JSON object"));
  // The checksum's text is printed by recursion.
  WriteText(manifest,
            "{\"format\":1,\"checksum\":\"0\",\"mesh\":" + std::string(1000000, '[') + std::string(1000000, ']') + "}");
  EXPECT_THAT(message(), HasSubstr("manifest.json: is nested more than 20 deep; expected fewer levels"));
  WriteText(manifest, "{\"format\":1,\"format\":1}");
  EXPECT_THAT(message(), HasSubstr("manifest.json: is ambiguous: an object has the field \"format\" twice"));
  WriteText(manifest, "{");
  EXPECT_THAT(message(), HasSubstr("manifest.json: is not JSON; it may be truncated"));
}

// The steps that follow it were counted in 64 bits, and none of them was done.
TEST(Checkpoint, ManifestsOfTheFirstFormatAreRead) {
  const auto hash = [](const std::string& bytes) {
    return artifact::HexHash(*artifact::Sha256({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}));
  };
  TemporaryFolder folder;
  ASSERT_EQ(SaveCounting(folder.path(), 7, 2, 40), absl::OkStatus());
  const std::string checkpoint = folder / "step-0000000007";
  nlohmann::json manifest = nlohmann::json::parse(ReadText(checkpoint + "/manifest.json"));
  manifest.erase("state_xxh3");
  manifest.erase("checksum");
  manifest["format"] = 1;
  manifest["state_sha256"] = hash(ReadText(checkpoint + "/state.safetensors"));
  manifest["checksum"] = hash(json::WriteJson(manifest));
  WriteText(checkpoint + "/manifest.json", json::WriteJson(manifest));
  const auto opened = OpenCheckpoint(folder.path());
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->point.step, 7u);
}

TEST(Checkpoint, RefusesStepsThatNoRunReaches) {
  TemporaryFolder folder;
  ASSERT_EQ(SaveCounting(folder.path(), UINT64_MAX, 1, 1), absl::OkStatus());
  EXPECT_THAT(std::string(OpenCheckpoint(folder.path()).status().message()),
              HasSubstr("manifest.json: is of step 18446744073709551615; expected at most 9007199254740992; resume"));
}

// Every damage that disks and people do to the newest checkpoint.
TEST(Checkpoint, ADamagedOneIsPassedOverForTheOneBefore) {
  const std::vector<std::pair<std::function<void(const std::string&)>, std::string>> damages = {
      {[](const std::string& path) {
         std::string text = ReadText(path + "/state.safetensors");
         text.back() ^= 1;
         WriteText(path + "/state.safetensors", text);
       },
       "state.safetensors: is corrupt: its checksum is not the manifest's"},
      {[](const std::string& path) { std::filesystem::resize_file(path + "/state.safetensors", 20); },
       "state.safetensors: has 20 bytes, but the manifest says"},
      {[](const std::string& path) { std::filesystem::remove(path + "/state.safetensors"); },
       "state.safetensors: cannot open: No such file or directory"},
      {[](const std::string& path) { std::filesystem::remove(path + "/manifest.json"); },
       "manifest.json: cannot open: No such file or directory"},
      {[](const std::string& path) { WriteText(path + "/manifest.json", "{"); },
       "manifest.json: is not JSON; it may be truncated"}};
  for (const auto& [damage, message] : damages) {
    TemporaryFolder folder;
    for (uint64_t step : {7, 8, 9}) ASSERT_EQ(SaveCounting(folder.path(), step, 2, step), absl::OkStatus());
    damage(folder / "step-0000000009");
    auto checkpoint = OpenCheckpoint(folder.path());
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
    EXPECT_EQ(checkpoint->point.step, 8u);
    ASSERT_EQ(checkpoint->passed_over.size(), 1u);
    EXPECT_THAT(checkpoint->passed_over[0], HasSubstr("step-0000000009/" + message));
    damage(folder / "step-0000000008");
    damage(folder / "step-0000000007");
    const std::string error(OpenCheckpoint(folder.path()).status().message());
    EXPECT_THAT(error, HasSubstr(folder.path() + ": holds no complete checkpoint: "));
    for (const char* step : {"7", "8", "9"})
      EXPECT_THAT(error, HasSubstr("step-000000000" + std::string(step) + "/" + message));
  }
}

TEST(Checkpoint, OneThatIsNamedItselfIsNotPassedOver) {
  TemporaryFolder folder;
  for (uint64_t step : {7, 8}) ASSERT_EQ(SaveCounting(folder.path(), step, 1, 1), absl::OkStatus());
  std::filesystem::remove(folder / "step-0000000008/state.safetensors");
  EXPECT_FALSE(OpenCheckpoint(folder / "step-0000000008").ok());
}

TEST(Checkpoint, RunsAreNotMixed) {
  TemporaryFolder folder;
  const std::string saved = folder / "saved", other = folder / "other";
  EXPECT_EQ(CheckContinues(saved, ""), absl::OkStatus()) << "it is not there yet";
  for (const std::string& directory : {saved, other}) {
    std::filesystem::create_directory(directory);
    EXPECT_EQ(CheckContinues(directory, ""), absl::OkStatus());
    for (uint64_t step : {7, 8}) ASSERT_EQ(SaveCounting(directory, step, 1, 1), absl::OkStatus());
  }
  EXPECT_EQ(CheckContinues(saved, "").message(),
            saved + ": holds checkpoints of another run, the last after 8 steps; go on with that one by --resume " +
                saved + ", or save into another folder");
  EXPECT_EQ(CheckContinues(saved, saved), absl::OkStatus());
  EXPECT_EQ(CheckContinues(saved, saved + "/"), absl::OkStatus());
  EXPECT_EQ(CheckContinues(saved, saved + "/step-0000000008"), absl::OkStatus());
  EXPECT_THAT(std::string(CheckContinues(saved, other).message()),
              HasSubstr("holds checkpoints of another run than the one that is resumed (" + other + ")"));
  EXPECT_THAT(std::string(CheckContinues(saved, saved + "/step-0000000007").message()),
              HasSubstr("holds later checkpoints, up to 8 steps, than the one that is resumed"));
}

TEST(Checkpoint, ThoseOfAPolicyStay) {
  const auto kept = [](const KeepPolicy& policy) {
    TemporaryFolder folder;
    const double accuracies[] = {0.5, 0.9, 0.7, 0.9, 0.8};
    for (int32_t i = 0; i < 5; ++i) {
      EXPECT_EQ(SaveCounting(folder.path(), 10 * (i + 1), 1, i, false,
                             {{"accuracy", accuracies[i]}, {"eval_loss", accuracies[i]}}),
                absl::OkStatus());
      EXPECT_EQ(RemoveOthers(folder.path(), policy), absl::OkStatus());
    }
    std::vector<uint64_t> steps;
    const auto listed = List(folder.path());
    for (const Listed& one : *listed) steps.push_back(one.step);
    return steps;
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(kept({}), ElementsAre(50, 40, 30, 20, 10));
  EXPECT_THAT(kept({.last = 2}), ElementsAre(50, 40));
  EXPECT_THAT(kept({.every = 20}), ElementsAre(50, 40, 20));
  EXPECT_THAT(kept({.best = "accuracy"}), ElementsAre(50, 40)) << "of equal ones the newer";
  EXPECT_THAT(kept({.best = "eval_loss"}), ElementsAre(50, 10));
  EXPECT_THAT(kept({.last = 1, .every = 30, .best = "eval_loss"}), ElementsAre(50, 30, 10));
  EXPECT_THAT(kept({.best = "absent"}), ElementsAre(50));
}

TEST(Checkpoint, OlderOnesAreRemoved) {
  TemporaryFolder folder;
  for (uint64_t step : {1, 2, 3, 4, 5}) ASSERT_EQ(SaveCounting(folder.path(), step, 1, 1), absl::OkStatus());
  std::filesystem::remove(folder / "step-0000000004/manifest.json");
  ASSERT_EQ(RemoveOthers(folder.path(), {.last = 2}), absl::OkStatus());
  EXPECT_TRUE(std::filesystem::exists(folder / "step-0000000005"));
  EXPECT_TRUE(std::filesystem::exists(folder / "step-0000000004")) << "it is not complete, so it does not count";
  EXPECT_TRUE(std::filesystem::exists(folder / "step-0000000003"));
  EXPECT_EQ(folder.files(), 3u);
  ASSERT_EQ(RemoveOthers(folder.path(), {.last = 0}), absl::OkStatus());
  EXPECT_TRUE(OpenCheckpoint(folder.path()).ok()) << "one always stays";
}

TEST(Checkpoint, WhatInterruptedRunsLeftIsRemoved) {
  TemporaryFolder folder;
  ASSERT_EQ(SaveCounting(folder.path(), 7, 1, 1), absl::OkStatus());
  for (const char* name : {"step-0000000008.partial", "step-0000000006.removed"}) {
    std::filesystem::create_directory(folder / name);
    WriteText((folder / name) + "/state.safetensors", "rest");
  }
  WriteText(folder / "notes.partial", "the user's");
  RemoveUnfinished(folder.path());
  EXPECT_EQ(folder.files(), 2u);
  EXPECT_TRUE(OpenCheckpoint(folder.path()).ok());
}

TEST(Checkpoint, AFailedSaveLeavesTheOlderOne) {
  TemporaryFolder folder;
  ASSERT_EQ(SaveCounting(folder.path(), 7, 1, 1), absl::OkStatus());
  WriteText(folder / "step-0000000008.partial", "a file where the folder would be");
  EXPECT_FALSE(SaveCounting(folder.path(), 8, 1, 1).ok());
  auto checkpoint = OpenCheckpoint(folder.path());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  EXPECT_EQ(checkpoint->point.step, 7u);
  EXPECT_THAT(std::string(CheckWritable("/proc/none").message()), HasSubstr("/proc/none: cannot create: "));
}

}  // namespace
}  // namespace sgd::checkpoint
