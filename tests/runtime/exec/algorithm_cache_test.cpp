// The file beside an artifact is used for the same bytes and device only, and is never trusted.
#include "runtime/exec/algorithm_cache.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "runtime/artifact/bundle.h"
#include "tests/runtime/artifact/sample_artifact.h"

namespace sgd::exec {
namespace {

using device::AlgorithmChoices;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class AlgorithmCacheTest : public ::testing::Test {
 protected:
  AlgorithmCacheTest()
      : folder_(std::filesystem::path(::testing::TempDir()) /
                ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    file_ = Open(1);
  }
  ~AlgorithmCacheTest() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<artifact::ArtifactFile> Open(uint32_t ranks) const {
    return *artifact::ArtifactFile::FromBytes(testing::SampleBytes(ranks), folder_ / "model.sgda");
  }
  // Chooses once and keeps that.
  std::string Fill() {
    AlgorithmChoices choices("NVIDIA H200");
    AlgorithmCache cache(*file_, -1, kFingerprint, choices);
    EXPECT_TRUE(absl::IsNotFound(cache.Load()));
    Choose(choices);
    EXPECT_TRUE(cache.Save().ok());
    return cache.path();
  }
  static void Choose(AlgorithmChoices& choices) {
    ASSERT_TRUE(choices.Use("product", [](std::string_view) { return absl::OkStatus(); }, [] { return "3"; }).ok());
  }
  absl::Status Load(const artifact::ArtifactFile& file, const std::string& fingerprint, std::string& loaded) {
    AlgorithmChoices choices("NVIDIA H200");
    absl::Status status = AlgorithmCache(file, -1, fingerprint, choices).Load();
    loaded = choices.Save();
    return status;
  }

  static constexpr char kFingerprint[] = "cuda; sm_90; cuBLASLt 13";
  std::filesystem::path folder_;
  std::unique_ptr<artifact::ArtifactFile> file_;
};

TEST_F(AlgorithmCacheTest, KeepsChoicesForTheNextStart) {
  EXPECT_THAT(Fill(), EndsWith("/model.sgda.nvidia-h200.algorithms"));
  std::string loaded;
  ASSERT_TRUE(Load(*file_, kFingerprint, loaded).ok());
  EXPECT_THAT(loaded, HasSubstr("product"));
}

TEST_F(AlgorithmCacheTest, IsOfOneArtifactAndDevice) {
  Fill();
  std::string loaded;
  EXPECT_THAT(std::string(Load(*Open(2), kFingerprint, loaded).message()), HasSubstr("of another artifact, device"));
  EXPECT_EQ(loaded, "");
  EXPECT_TRUE(absl::IsInvalidArgument(Load(*file_, "cuda; sm_90; cuBLASLt 14", loaded)));
  EXPECT_EQ(loaded, "");
}

TEST_F(AlgorithmCacheTest, PlansOfAFileHaveFilesOfTheirOwn) {
  const std::string one = testing::SampleBytes(1), two = testing::SampleBytes(2);
  const std::string both = *artifact::BundlePlans({{"data=1", one}, {"data=2", two}});
  file_ = *artifact::ArtifactFile::FromBytes(both, folder_ / "model.sgda", {.ranks = 2});
  EXPECT_THAT(Fill(), EndsWith("/model.sgda.data-2.nvidia-h200.algorithms"));
}

TEST_F(AlgorithmCacheTest, NothingIsTakenFromADamagedFile) {
  const std::string path = Fill();
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  for (size_t at = 0; at < bytes.size(); at += 7) {
    for (bool cut : {false, true}) {
      std::string damaged = bytes;
      cut ? damaged.resize(at) : (void)(damaged[at] ^= 4);
      std::ofstream(path, std::ios::binary | std::ios::trunc) << damaged;
      std::string loaded;
      absl::Status status = Load(*file_, kFingerprint, loaded);
      EXPECT_TRUE(absl::IsInvalidArgument(status)) << at;
      EXPECT_THAT(std::string(status.message()), EndsWith(": damaged"));
      EXPECT_EQ(loaded, "");
    }
  }
}

TEST_F(AlgorithmCacheTest, AFolderThatCannotBeWrittenIsToldOf) {
  AlgorithmChoices choices("NVIDIA H200");
  AlgorithmCache cache(*file_, -1, kFingerprint, choices);
  Choose(choices);
  std::filesystem::remove_all(folder_);
  absl::Status status = cache.Save();
  EXPECT_THAT(std::string(status.message()), HasSubstr("nvidia-h200.algorithms: cannot create: No such file"));
}

TEST_F(AlgorithmCacheTest, LeavesTheFileWhereNothingWasChosen) {
  const std::string path = Fill();
  AlgorithmChoices choices("NVIDIA H200");
  AlgorithmCache cache(*file_, -1, kFingerprint, choices);
  ASSERT_TRUE(cache.Load().ok());
  std::filesystem::remove(path);
  EXPECT_TRUE(cache.Save().ok());
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace sgd::exec
