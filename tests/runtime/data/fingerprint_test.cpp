// Fingerprints change with names, types and contents, and with nothing else.
#include "runtime/data/fingerprint.h"

#include <gtest/gtest.h>

#include "tests/runtime/data/tensor_files.h"

namespace sgd::data {
namespace {

std::string Fingerprint(const std::string& path) {
  auto file = SafetensorsFile::Open(path);
  EXPECT_TRUE(file.ok()) << file.status();
  auto fingerprint = FingerprintOf(*file);
  EXPECT_TRUE(fingerprint.ok()) << fingerprint.status();
  return *std::move(fingerprint);
}

TEST(Fingerprint, ChangesWithNamesTypesAndContents) {
  TemporaryFolder folder;
  const auto of = [&](const std::vector<std::pair<std::string, Dims>>& tensors, int base) {
    WriteCounting(folder / "d", tensors, base);
    return Fingerprint(folder / "d");
  };
  const std::string fingerprint = of({{"x", {10, 3}}, {"y", {10}}}, 0);
  EXPECT_EQ(fingerprint.size(), 16u);
  EXPECT_EQ(of({{"x", {10, 3}}, {"y", {10}}}, 0), fingerprint);
  EXPECT_NE(of({{"x", {10, 3}}, {"y", {10}}}, 1), fingerprint);
  EXPECT_NE(of({{"x", {3, 10}}, {"y", {10}}}, 0), fingerprint);
  EXPECT_NE(of({{"x", {10, 3}}, {"z", {10}}}, 0), fingerprint);
}

TEST(Fingerprint, DoesNotDependOnTheOrderInTheFile) {
  TemporaryFolder folder;
  const char* const kOffsets[2][2] = {{"[0,4]", "[4,8]"}, {"[4,8]", "[0,4]"}};
  std::vector<std::string> fingerprints;
  for (const auto& [x, y] : kOffsets) {
    const std::string header = std::string(R"({"x":{"dtype":"I32","shape":[1],"data_offsets":)") + x +
                               R"(},"y":{"dtype":"I32","shape":[1],"data_offsets":)" + y + "}}";
    WriteSafetensors(folder / "d", header, x == std::string("[0,4]") ? "xxxxyyyy" : "yyyyxxxx");
    fingerprints.push_back(Fingerprint(folder / "d"));
  }
  EXPECT_EQ(fingerprints[0], fingerprints[1]);
}

TEST(Fingerprint, SamplesLargeFilesEvenly) {
  TemporaryFolder folder;
  WriteCounting(folder / "d", {{"x", {1 << 18}}, {"y", {1 << 18}}});
  const std::string fingerprint = Fingerprint(folder / "d");
  const std::string text = ReadText(folder / "d");
  const size_t data = text.size() - (uint64_t{2} << 20);
  for (size_t sample = 0; sample < 64; ++sample) {
    std::string changed = text;
    changed[data + sample * (uint64_t{2} << 20) / 64] ^= 1;
    WriteText(folder / "changed", changed);
    EXPECT_NE(Fingerprint(folder / "changed"), fingerprint) << sample;
  }
}

TEST(Fingerprint, OfNoTensorsIsOne) {
  TemporaryFolder folder;
  WriteCounting(folder / "d", {});
  WriteCounting(folder / "e", {{"x", {0}}});
  EXPECT_NE(Fingerprint(folder / "d"), Fingerprint(folder / "e"));
}

}  // namespace
}  // namespace sgd::data
