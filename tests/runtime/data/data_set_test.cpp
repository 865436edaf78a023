// Files, folders, globs and descriptions become sources of rows; tokens become windows and packed rows.
#include "runtime/data/data_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "runtime/data/data_set_json.h"
#include "runtime/data/file_list.h"
#include "runtime/data/row_feed.h"
#include "runtime/data/tensor_rows.h"
#include "tests/runtime/data/data_formats.h"
#include "tests/runtime/data/tensor_files.h"

namespace sgd::data {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using Rows = std::vector<std::vector<int32_t>>;

std::shared_ptr<const DataSet> OpenSet(const std::vector<std::string>& arguments) {
  auto set = OpenDataSet(arguments);
  EXPECT_TRUE(set.ok()) << set.status();
  return set.ok() ? *set : nullptr;
}

std::string MessageOf(const absl::Status& status) { return std::string(status.message()); }

// A column of I32.
Rows RowsOf(const RowSource& source, const std::string& column) {
  const std::optional<size_t> found = source.Find(column);
  EXPECT_TRUE(found) << column;
  Rows rows;
  for (uint64_t row = 0; found && row < source.columns()[*found].rows; ++row) {
    uint64_t elements = 1;
    for (uint64_t dim : source.columns()[*found].row_dims) elements *= dim;
    std::vector<int32_t>& values = rows.emplace_back(elements);
    ReadWatch watch;
    absl::Status status = source.Read(*found, row, 0, std::as_writable_bytes(std::span(values)), watch);
    EXPECT_TRUE(status.ok()) << status;
    // A part of the row is the same as in the whole.
    for (uint64_t first = 0; first < elements; ++first) {
      std::vector<int32_t> part(elements - first);
      EXPECT_TRUE(source.Read(*found, row, first, std::as_writable_bytes(std::span(part)), watch).ok());
      EXPECT_TRUE(std::equal(part.begin(), part.end(), values.begin() + static_cast<ptrdiff_t>(first)));
    }
    source.Announce(*found, row, 0, elements);
  }
  return rows;
}

std::string Int32s(std::vector<int32_t> values) {
  const std::string shape = absl::StrCat("(", values.size(), ",)");
  return Npy("<i4", shape, TextOfValues(values));
}

TEST(DataSet, FilesFollowOneAnotherWhateverTheirFormat) {
  TemporaryFolder folder;
  WriteCounting(folder / "a.safetensors", {{"x", {2}}, {"y", {2}}}, 10);
  WriteText(folder / "b.npz", Zip({{"x.npy", Int32s({1, 2, 3}), true}, {"y.npy", Int32s({4, 5, 6}), false}}));
  WriteText(folder / "x.npy", Int32s({7}));
  WriteText(folder / "y-00000.npy", Int32s({8}));
  WriteText(folder / "readme.md", "not data");
  WriteText(folder / ".hidden.npy", "not data");
  const Rows x = {{10}, {11}, {1}, {2}, {3}, {7}}, y = {{10}, {11}, {4}, {5}, {6}, {8}};
  const std::vector<std::vector<std::string>> ways = {
      {folder.path()},
      {folder / "*"},
      {folder / "a.safetensors", folder / "b.npz," + (folder / "x.npy") + "," + (folder / "y-00000.npy")}};
  std::filesystem::remove(folder / "readme.md");
  for (const auto& way : ways) {
    auto set = OpenSet(way);
    ASSERT_NE(set, nullptr);
    EXPECT_EQ(RowsOf(*set->sources[0].rows, "x"), x);
    EXPECT_EQ(RowsOf(*set->sources[0].rows, "y"), y);
    EXPECT_THAT(set->name, EndsWith("a.safetensors and 3 more files"));
    EXPECT_EQ(set->sources[0].rows->PlaceOf(0, 3).text, (folder / "b.npz") + ": tensor 'x'");
    EXPECT_EQ(set->sources[0].rows->PlaceOf(0, 3).row, 1u);
  }
  WriteText(folder / "a,b.npy", Int32s({1}));
  EXPECT_EQ(SplitAtCommas(folder / "a,b.npy"), std::vector<std::string>{folder / "a,b.npy"});
}

TEST(DataSet, SaysWhichFilesDoNotFit) {
  TemporaryFolder folder;
  WriteText(folder / "x-0.npy", Int32s({1, 2}));
  WriteText(folder / "x-1.npy", Npy("<f4", "(2,)", TextOfValues<float>({1, 2})));
  WriteText(folder / "y-0.npy", Int32s({1, 2, 3, 4}));
  std::vector<InputType> inputs = {{"x", {ElementType::I32, {1}, {1}, {}}}, {"y", {ElementType::I32, {1}, {1}, {}}}};
  const auto message = [&](const std::vector<std::string>& files, std::vector<RowFeed::Source> sources) {
    auto set = OpenDataSet(files);
    return MessageOf(set.ok() ? RowFeed::Make(*set, inputs, sources, {}).status() : set.status());
  };
  EXPECT_THAT(message({folder / "x-*.npy"}, {{0, "x"}}),
              HasSubstr("x-1.npy: tensor 'x': is F32[2], but rows of files before it are I32[]"));
  EXPECT_THAT(message({folder / "x-0.npy", folder / "y-0.npy"}, {{0, "x"}, {1, "y"}}),
              HasSubstr("tensor 'y': has 4 rows, but 'x' has 2"));
  EXPECT_THAT(message({folder / "z*.npy"}, {}), HasSubstr("z*.npy: no file matches"));
  std::filesystem::create_directory(folder / "empty");
  EXPECT_THAT(message({folder / "empty"}, {}),
              HasSubstr("empty: the folder has no file that ends in .safetensors, .npy"));
  EXPECT_THAT(message({folder / "none.npy"}, {}), HasSubstr("none.npy: cannot open"));
  WriteText(folder / "t.bin", "ab");
  EXPECT_THAT(message({folder / "t.bin"}, {}), HasSubstr("t.bin: files of nothing but tokens do not say"));
  EXPECT_THAT(message({folder / "set.json", folder / "x-0.npy"}, {}), HasSubstr("stands alone"));
  // Rows of a file must be the same rows of all columns.
  WriteCounting(folder / "a.safetensors", {{"x", {3}}, {"y", {1}}});
  WriteCounting(folder / "b.safetensors", {{"x", {1}}, {"y", {3}}});
  EXPECT_THAT(message({folder / "?.safetensors"}, {{0, "x"}, {1, "y"}}),
              HasSubstr("a.safetensors: tensor 'y': has 1 rows, from row 0 of the data, but 'x' has 3, from row 0"));
}

TEST(DataSet, ChecksLargeValuesWhereTheyAreRead) {
  TemporaryFolder folder;
  WriteText(folder / "x.npy", Npy("<f8", "(3, 2)", TextOfValues<double>({1, 2, 3, 4, 5, 0.1})));
  const std::vector<InputType> inputs = {{"x", {ElementType::F32, {1, 2}, {1, 2}, {}}}};
  const char* const expected =
      "x.npy: tensor 'x': element [2, 1] is 0.10000000000000001; expected a number that F32 holds exactly, since input "
      "'x' is F32[1,2]";
  EXPECT_THAT(MessageOf(RowFeed::Make(OpenSet({folder / "x.npy"}), inputs, {{0, "x"}}, {}).status()),
              EndsWith(expected));
  auto feed = RowFeed::Make(OpenSet({folder / "x.npy"}), inputs, {{0, "x"}}, {.most_checked = 10});
  ASSERT_TRUE(feed.ok()) << feed.status();
  const Shard shard(inputs[0].type, comm::Mesh{{1}}, 0);
  std::vector<float> row(2);
  ReadWatch watch;
  EXPECT_TRUE((*feed)->Fill(1, 0, shard, std::as_writable_bytes(std::span(row)), watch).ok());
  EXPECT_THAT(row, ElementsAre(3, 4));
  EXPECT_THAT(MessageOf((*feed)->Fill(2, 0, shard, std::as_writable_bytes(std::span(row)), watch)), EndsWith(expected));
}

TEST(DataSet, ReadsOnlyTheRowsAndSlicesOfTheShard) {
  TemporaryFolder folder;
  constexpr uint64_t kRows = 64, kColumns = 16384;  // 64 KiB a row
  WriteCounting(folder / "x.safetensors", {{"x", {kRows, kColumns}}});
  auto files = std::make_shared<DataFiles>(DataFiles::Limits{.inflated = 0, .loaded = 0});
  auto set = std::make_shared<DataSet>();
  auto rows = TensorRows::Open(files, {folder / "x.safetensors"});
  ASSERT_TRUE(rows.ok()) << rows.status();
  set->sources.push_back({.name = "", .rows = *std::move(rows)});
  // A batch of 8 rows over 4 ranks: rows over 2, columns over 2.
  const std::vector<InputType> inputs = {
      {"x", {ElementType::I32, {8, kColumns}, {4, kColumns / 2}, {{{0, 1, 2}}, {{1, 1, 2}}}}}};
  auto feed = RowFeed::Make(set, inputs, {{0, "x"}}, {.seed = 1});
  ASSERT_TRUE(feed.ok()) << feed.status();
  for (uint32_t rank = 0; rank < 4; ++rank) {
    const Shard shard(inputs[0].type, comm::Mesh{{2, 2}}, rank);
    std::vector<std::byte> local(shard.local_bytes());
    ReadWatch watch;
    ASSERT_TRUE((*feed)->Fill(0, 0, shard, local, watch).ok());
    EXPECT_EQ(watch.total().reads, 4u);
    EXPECT_EQ(watch.total().bytes, shard.local_bytes());
  }
}

class Tokens : public testing::Test {
 protected:
  std::shared_ptr<const DataSet> Describe(const std::string& json) {
    WriteText(folder_ / "set.json", json);
    return OpenSet({folder_ / "set.json"});
  }
  std::string Fault(const std::string& json) {
    WriteText(folder_ / "set.json", json);
    const std::string message = MessageOf(OpenDataSet({folder_ / "set.json"}).status());
    EXPECT_THAT(message, testing::StartsWith(folder_.path()));
    return message;
  }
  void WriteTokens(const std::string& name, uint16_t first, uint16_t count) {
    std::vector<uint16_t> tokens;
    for (uint16_t i = 0; i < count; ++i) tokens.push_back(first + i);
    WriteText(folder_ / name, TextOfValues(tokens));
  }

  TemporaryFolder folder_;
};

TEST_F(Tokens, AreWindowsOfEachFile) {
  WriteTokens("a.bin", 0, 9);
  WriteTokens("b.bin", 100, 2);  // too short for a row
  WriteTokens("c.bin", 200, 4);
  auto set = Describe(R"({"sources": [{"tokens": "*.bin", "type": "u16", "sequence": 4}]})");
  EXPECT_EQ(RowsOf(*set->sources[0].rows, "tokens"), (Rows{{0, 1, 2, 3}, {4, 5, 6, 7}, {200, 201, 202, 203}}));
  set = Describe(
      R"({"sources": [{"tokens": ["a.bin", "c.bin"], "type": "u16", "sequence": 3, "stride": 2, "targets": true}]})");
  EXPECT_EQ(RowsOf(*set->sources[0].rows, "tokens"), (Rows{{0, 1, 2}, {2, 3, 4}, {4, 5, 6}, {200, 201, 202}}));
  EXPECT_EQ(RowsOf(*set->sources[0].rows, "targets"), (Rows{{1, 2, 3}, {3, 4, 5}, {5, 6, 7}, {201, 202, 203}}));
  WriteText(folder_ / "l.npy", Npy("<i8", "(4,)", TextOfValues<int64_t>({5, 6, 7, int64_t{1} << 31})));
  set = Describe(R"({"sources": [{"tokens": "l.npy", "sequence": 2}]})");
  std::vector<int32_t> row(2);
  ReadWatch watch;
  EXPECT_TRUE(set->sources[0].rows->Read(0, 0, 0, std::as_writable_bytes(std::span(row)), watch).ok());
  EXPECT_THAT(MessageOf(set->sources[0].rows->Read(0, 1, 0, std::as_writable_bytes(std::span(row)), watch)),
              EndsWith("l.npy: token 3 is 2147483648; expected -2147483648 to 2147483647"));
  EXPECT_THAT(Fault(R"({"sources": [{"tokens": "b.bin", "type": "u16", "sequence": 3}]})"),
              HasSubstr("b.bin: has too few tokens for a row of 3 tokens; set a smaller"));
  EXPECT_THAT(Fault(R"({"sources": [{"tokens": "a.bin", "type": "u32", "sequence": 3}]})"),
              HasSubstr("a.bin: has 18 bytes, which is no number of U32"));
}

TEST_F(Tokens, ArePackedByDocument) {
  WriteTokens("a.bin", 0, 10);   // documents of 6, 1, 3 tokens
  WriteTokens("b.bin", 100, 2);  // one document
  WriteText(folder_ / "a.npy", Npy("<i8", "(3,)", TextOfValues<int64_t>({0, 6, 7})));
  WriteText(folder_ / "b.npy", Npy("<u4", "(2,)", TextOfValues<uint32_t>({0, 2})));
  auto set = Describe(R"({"sources": [{"tokens": ["a.bin", "b.bin"], "type": "u16", "sequence": 4, "pad": 9,
                          "documents": ["a.npy", "b.npy"]}]})");
  const RowSource* rows = set->sources[0].rows.get();
  // 4 of the first document; 3 and 1; its other 2 and the 2 of b.
  EXPECT_EQ(RowsOf(*rows, "tokens"), (Rows{{0, 1, 2, 3}, {7, 8, 9, 6}, {4, 5, 100, 101}}));
  EXPECT_EQ(RowsOf(*rows, "segment_ids"), (Rows{{1, 1, 1, 1}, {1, 1, 1, 2}, {1, 1, 2, 2}}));
  EXPECT_EQ(RowsOf(*rows, "positions"), (Rows{{0, 1, 2, 3}, {0, 1, 2, 0}, {0, 1, 0, 1}}));
  EXPECT_THAT(set->notes, ElementsAre(EndsWith("documents are packed into 3 rows of 4 tokens, 100.0 % of which are no "
                                               "padding")));
  set = Describe(R"({"sources": [{"tokens": ["a.bin", "b.bin"], "type": "u16", "sequence": 4, "targets": true, "pad": 9,
                     "ignored": -1, "documents": ["a.npy", "b.npy"]}]})");
  rows = set->sources[0].rows.get();
  // Documents of 5, 0, 2 and 1 tokens that have a target.
  EXPECT_EQ(RowsOf(*rows, "tokens"), (Rows{{0, 1, 2, 3}, {7, 8, 4, 100}}));
  EXPECT_EQ(RowsOf(*rows, "targets"), (Rows{{1, 2, 3, 4}, {8, 9, 5, 101}}));
  EXPECT_EQ(RowsOf(*rows, "positions"), (Rows{{0, 1, 2, 3}, {0, 1, 0, 0}}));
  // With `offsets` in the same file.
  WriteText(folder_ / "d.npz",
            Zip({{"tokens.npy", Int32s({5, 6, 7, 8}), false}, {"offsets.npy", Int32s({0, 1}), false}}));
  set = Describe(R"({"sources": [{"tokens": "d.npz", "sequence": 5, "documents": true}]})");
  EXPECT_EQ(RowsOf(*set->sources[0].rows, "tokens"), (Rows{{6, 7, 8, 5, 0}}));
  EXPECT_EQ(RowsOf(*set->sources[0].rows, "segment_ids"), (Rows{{1, 1, 1, 2, 0}}));
}

// Tokens are their own numbers, so that a row tells where it is from.
TEST_F(Tokens, OfDocumentsAreInOneRowEachOnce) {
  std::mt19937 random(5);
  for (int run = 0; run < 20; ++run) {
    std::vector<int32_t> starts = {0};
    while (starts.back() < 400) starts.push_back(starts.back() + static_cast<int32_t>(random() % 40));
    const int32_t count = starts.back();
    starts.pop_back();
    WriteTokens("a.bin", 0, static_cast<uint16_t>(count));
    WriteText(folder_ / "a.npy", Int32s(starts));
    const std::set<int32_t> begins(starts.begin(), starts.end());
    auto set = Describe(absl::StrCat(R"({"sources": [{"tokens": "a.bin", "type": "u16", "targets": true, "sequence": )",
                                     1 + random() % 50, R"(, "documents": "a.npy", "pad": -1}]})"));
    const RowSource& source = *set->sources[0].rows;
    const Rows tokens = RowsOf(source, "tokens"), targets = RowsOf(source, "targets"),
               positions = RowsOf(source, "positions");
    std::vector<int> seen(static_cast<size_t>(count));
    for (size_t row = 0; row < tokens.size(); ++row) {
      for (size_t i = 0; i < tokens[row].size(); ++i) {
        const int32_t token = tokens[row][i];
        EXPECT_EQ(targets[row][i], token < 0 ? -100 : token + 1);
        if (token < 0) continue;
        ++seen[static_cast<size_t>(token)];
        EXPECT_FALSE(begins.contains(token + 1)) << "a target is of the same document";
        if (positions[row][i] > 0) EXPECT_EQ(tokens[row][i - 1], token - 1);
      }
    }
    for (int32_t token = 0; token < count; ++token)
      EXPECT_EQ(seen[static_cast<size_t>(token)], begins.contains(token + 1) || token + 1 == count ? 0 : 1) << token;
  }
}

TEST_F(Tokens, NeedStartsThatAreStarts) {
  WriteTokens("a.bin", 0, 10);
  const auto fault = [&](const std::string& npy) {
    WriteText(folder_ / "a.npy", npy);
    return Fault(R"({"sources": [{"tokens": "a.bin", "type": "u16", "sequence": 4, "documents": "a.npy"}]})");
  };
  EXPECT_THAT(fault(Int32s({1, 2})),
              HasSubstr("a.npy: tensor 'a': element [0] is 1; expected the starts of documents, the first one at 0"));
  EXPECT_THAT(fault(Int32s({0, 5, 4})),
              HasSubstr("element [2] is 4; expected the starts of documents, in ascending order"));
  EXPECT_THAT(fault(Int32s({0, 11})),
              HasSubstr("element [1] is 11; expected the starts of documents, within the 10 tokens"));
  EXPECT_THAT(fault(Int32s({0, -1})), HasSubstr("element [1] is -1"));
  EXPECT_THAT(fault(Npy("<u8", "(2,)", TextOfValues<uint64_t>({0, ~uint64_t{0}}))),
              HasSubstr("element [1] is 18446744073709551615"));
  EXPECT_THAT(fault(Int32s({})), HasSubstr("has no document of a token"));
  EXPECT_THAT(fault(Npy("<f4", "(2,)", TextOfValues<float>({0, 1}))),
              HasSubstr("is F32[2]; expected one dimension of integers"));
  EXPECT_THAT(fault(Npy("<i4", "(1, 2)", TextOfValues<int32_t>({0, 1}))),
              HasSubstr("is I32[1,2]; expected one dimension"));
  WriteTokens("b.bin", 0, 10);
  EXPECT_THAT(Fault(R"({"sources": [{"tokens": "?.bin", "type": "u16", "sequence": 4, "documents": "a.npy"}]})"),
              HasSubstr("there are 2 files of tokens, but 1 of the starts of documents"));
}

TEST_F(Tokens, DescriptionsAreChecked) {
  WriteText(folder_ / "x.npy", Int32s({1, 2}));
  const std::pair<const char*, const char*> cases[] = {
      {"{", "set.json: is not JSON; it may be truncated"},
      {"[]", "is no description of a data set; expected an object with the one field \"sources\""},
      {R"({"sources": []})", "is no description"},
      {R"({"sources": [{"files": "x.npy"}], "more": 1})", "is no description"},
      {R"({"sources": [3]})", "sources[0]: is 3; expected an object"},
      {R"({"sources": [{"file": "x.npy"}]})",
       "sources[0].\"file\": no such field; expected some of name, weight, files"},
      {R"({"sources": [{}]})", "sources[0]: has neither \"files\" and \"tokens\"; expected one of them"},
      {R"({"sources": [{"files": "x.npy", "tokens": "x.npy"}]})", "sources[0]: has both"},
      {R"({"sources": [{"files": []}]})",
       "sources[0].files: is []; expected a file, a folder, a glob, or a list of these"},
      {R"({"sources": [{"files": "x.npy", "sequence": 3}]})", "sources[0].sequence: is for \"tokens\""},
      {R"({"sources": [{"tokens": "x.npy"}]})", "sources[0]: has no \"sequence\""},
      {R"({"sources": [{"tokens": "x.npy", "sequence": 0}]})",
       "sources[0].sequence: is 0; expected a number of tokens"},
      {R"({"sources": [{"tokens": "x.npy", "sequence": 4294967296}]})", "sources[0].sequence: is 4294967296; expected"},
      {R"({"sources": [{"tokens": "x.npy", "sequence": 1, "pad": 1}]})", "sources[0].pad: is for packed documents"},
      {R"({"sources": [{"tokens": "x.npy", "sequence": 1, "documents": true, "pad": 4294967296}]})",
       "sources[0].pad: is 4294967296"},
      {R"({"sources": [{"tokens": "x.npy", "sequence": 1, "documents": true, "stride": 1}]})",
       "sources[0].stride: is for windows"},
      {R"({"sources": [{"tokens": "x.npy", "sequence": 1, "type": "u16", "documents": true}]})",
       "name the files with them"},
      {R"({"sources": [{"tokens": "x.npy", "sequence": 1, "type": "u8"}]})",
       "sources[0].type: is \"u8\"; expected \"u16\" or \"u32\""},
      {R"({"sources": [{"files": "x.npy", "weight": -1}]})",
       "sources[0].weight: is -1; expected a number from 0 to 1e9, or a list"},
      {R"({"sources": [{"files": "x.npy", "weight": [[5, 1], [5, 2]]}]})",
       "sources[0].weight: is [[5,1],[5,2]]; expected"},
      {R"({"sources": [{"files": "x.npy", "weight": []}]})", "sources[0].weight: is []"},
      {R"({"sources": [{"files": "x.npy", "weight": 0}]})", "at step 0 all weights are 0"},
      {R"({"sources": [{"files": "x.npy", "weight": [[0, 1], [10, 0]]}]})", "at step 10 all weights are 0"},
      {R"({"sources": [{"files": "x.npy", "name": "1"}, {"files": "x.npy"}]})",
       "sources[1].name: \"1\" is another source's"},
  };
  for (const auto& [json, message] : cases) EXPECT_THAT(Fault(json), HasSubstr(message)) << json;
}

TEST_F(Tokens, EachSourceNeedsTheFedColumns) {
  WriteText(folder_ / "x.npy", Int32s({1, 2}));
  WriteText(folder_ / "y.npy", Int32s({1, 2}));
  auto set = Describe(R"({"sources": [{"files": "x.npy"}, {"files": "y.npy"}]})");
  const std::vector<InputType> inputs = {{"x", {ElementType::I32, {4}, {4}, {}}}};
  EXPECT_THAT(MessageOf(RowFeed::Make(set, inputs, {{0, "x"}}, {.seed = 0}).status()),
              HasSubstr("y.npy: tensor 'x': not in the file, but it must feed input 'x'"));
  set = Describe(R"({"sources": [{"files": "x.npy"}, {"files": "x.npy"}]})");
  EXPECT_TRUE(RowFeed::Make(set, inputs, {{0, "x"}}, {.seed = 0}).ok()) << "a source may have fewer rows than a batch";
  EXPECT_THAT(MessageOf(RowFeed::Make(set, inputs, {{0, "x"}}, {}).status()), HasSubstr("has 2 sources; expected one"));
}

}  // namespace
}  // namespace sgd::data
