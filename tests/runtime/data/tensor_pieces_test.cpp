// Files of pieces are checked before a tensor is put together from them.
#include "runtime/data/tensor_pieces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/data/tensor_files.h"

namespace sgd::data {
namespace {

using ::testing::HasSubstr;

struct Entry {
  std::string name;
  std::string metadata;  // empty: none
  ElementType element = ElementType::I32;
  Dims dims = {1, 2};
};

// Files with an entry each.
absl::StatusOr<SafetensorsFile> Composed(const TemporaryFolder& folder, const std::vector<Entry>& entries) {
  std::vector<SafetensorsFile> files;
  for (const Entry& entry : entries) {
    Metadata metadata = {{"format", "sgd"}};
    if (!entry.metadata.empty()) metadata[entry.name] = entry.metadata;
    const std::string path = folder / std::to_string(files.size());
    auto writer = TensorFileWriter::Create(path, {{entry.name, entry.element, entry.dims}}, metadata);
    const std::vector<int32_t> values = {static_cast<int32_t>(10 * files.size()),
                                         static_cast<int32_t>(10 * files.size() + 1)};
    WriteTensor(*writer, 0, values.data());
    EXPECT_TRUE(writer->Commit().ok());
    files.push_back(*SafetensorsFile::Open(path));
  }
  return SafetensorsFile::Compose(folder.path(), std::move(files));
}

std::string Of(uint64_t first) { return PieceText({2, 2}, {{{first, 1}}, {{0, 2}}}); }

TEST(TensorPieces, AreOneTensor) {
  TemporaryFolder folder;
  const auto file = Composed(folder, {{"w@7", Of(1)}, {"w@2", Of(0)}});
  ASSERT_TRUE(file.ok()) << file.status();
  const TensorEntry* w = file->Find("w");
  ASSERT_NE(w, nullptr);
  EXPECT_EQ(w->dims, (Dims{2, 2}));
  const std::vector<int32_t> want = {10, 11, 0, 1};
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(Values<int32_t>(file->Bytes(*w)), want);
    file->Release(*w);
  }
  std::vector<int32_t> part(2);
  ASSERT_TRUE(file->Read(*w, 4, std::as_writable_bytes(std::span(part))).ok());
  EXPECT_EQ(part, (std::vector<int32_t>{11, 0}));
  EXPECT_EQ(file->Find("w@7"), nullptr);
}

TEST(TensorPieces, ThatDoNotFitAreRefused) {
  const auto message = [](const std::vector<Entry>& entries) {
    TemporaryFolder folder;
    return std::string(Composed(folder, entries).status().message());
  };
  const Entry other = {"w@2", Of(1)};
  EXPECT_THAT(message({{"w@0", ""}, other}), HasSubstr("/0: tensor 'w@0': the metadata do not say what it is of"));
  EXPECT_THAT(message({{"w", Of(0)}, other}), HasSubstr("/0: tensor 'w': the metadata do not say what it is of"));
  const char* texts[] = {"{",
                         "[]",
                         R"({"shape": [2, 2]})",
                         R"({"shape": [2, 2], "held": [[[0, 1]]]})",
                         R"({"shape": [2, 2], "held": [[[0, 1]], [[0, 1]]]})",
                         R"({"shape": [2, 2], "held": [[[2, 1]], [[0, 2]]]})",
                         R"({"shape": [2, 2], "held": [[[0, 1]], [[0, 1], [0, 1]]]})",
                         R"({"shape": [2, 2], "held": [[[0, 1]], [[1, 18446744073709551615]]]})",
                         R"({"shape": [2, -2], "held": [[[0, 1]], [[0, 2]]]})",
                         R"({"shape": [2, 2], "held": [[[0]], [[0, 2]]]})"};
  for (const char* text : texts)
    EXPECT_THAT(message({{"w@0", text}, other}), HasSubstr("/0: tensor 'w@0': the metadata do not fit it")) << text;
  EXPECT_THAT(message({{"w@0", Of(0), ElementType::F32}, other}),
              HasSubstr("/1: tensor 'w@2': is of another type than other pieces of 'w', F32[2,2]"));
  EXPECT_THAT(message({{"w@0", Of(0)}}), HasSubstr("the pieces of tensor 'w' have 8 bytes together; expected 16"));
  EXPECT_THAT(message({{"w@0", Of(0)}, {"w@1", Of(0)}, other}), HasSubstr("have 24 bytes together; expected 16"));
}

TEST(Regions, PartsCoverThemOnce) {
  const Region region = {{{1, 2}, {5, 1}}, {{0, 4}, {6, 3}}};
  for (const uint32_t parts : {1u, 2u, 3u, 4u, 7u, 8u}) {
    std::vector<std::vector<int>> times(9, std::vector<int>(9));
    for (uint32_t part = 0; part < parts; ++part) {
      const std::optional<Region> some = PartOf(region, part, parts);
      if (!some) continue;
      for (const RowRange& rows : (*some)[0]) {
        for (const RowRange& columns : (*some)[1]) {
          for (uint64_t r = rows.first; r < rows.first + rows.count; ++r) {
            for (uint64_t c = columns.first; c < columns.first + columns.count; ++c) ++times[r][c];
          }
        }
      }
    }
    for (uint64_t r = 0; r < 9; ++r) {
      for (uint64_t c = 0; c < 9; ++c) {
        const bool is_in = (r == 1 || r == 2 || r == 5) && (c < 4 || c >= 6);
        EXPECT_EQ(times[r][c], is_in ? 1 : 0) << parts << " " << r << " " << c;
      }
    }
  }
  EXPECT_EQ(PartOf({{{0, 0}}}, 0, 1), std::nullopt);
  EXPECT_EQ(PartOf({}, 0, 3), Region{});
  EXPECT_EQ(PartOf({}, 1, 3), std::nullopt);
}

}  // namespace
}  // namespace sgd::data
