// Feeds give every rank its part of the same global batches, and say plainly what does not fit.
#include "runtime/data/feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "runtime/data/batch_feed.h"
#include "runtime/data/row_feed.h"
#include "tests/runtime/data/tensor_files.h"

namespace sgd::data {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const SafetensorsFile> Open(const std::string& path) {
  auto file = SafetensorsFile::Open(path);
  EXPECT_TRUE(file.ok()) << file.status();
  return std::make_shared<const SafetensorsFile>(*std::move(file));
}

std::shared_ptr<const DataSet> Set(const std::string& path) {
  auto set = OpenDataSet({path});
  EXPECT_TRUE(set.ok()) << set.status();
  return *set;
}

// x: i32[4,3] sharded over axis 0 of a mesh of `ranks`; y: i32[4].
std::vector<InputType> Inputs(uint32_t ranks) {
  const std::vector<comm::AxisRef> axis = {{0, 1, ranks}};
  return {{"x", {ElementType::I32, {4, 3}, {4 / ranks, 3}, {axis, {}}}},
          {"y", {ElementType::I32, {4}, {4 / ranks}, {axis}}}};
}

// The global batch of input `i`, put together from the ranks' shards.
std::vector<int32_t> Batch(const Feed& feed, uint64_t step, size_t i, const std::vector<InputType>& inputs,
                           uint32_t ranks) {
  const TensorType& type = inputs[feed.inputs()[i]].type;
  std::vector<int32_t> global;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    Shard shard(type, comm::Mesh{{ranks}}, rank);
    std::vector<int32_t> local(shard.local_bytes() / 4);
    global.resize(shard.global_bytes() / 4);
    ReadWatch watch;
    const absl::Status status = feed.Fill(step, i, shard, std::as_writable_bytes(std::span(local)), watch);
    EXPECT_TRUE(status.ok()) << status;
    shard.CopyOut(std::as_bytes(std::span(local)), std::as_writable_bytes(std::span(global)));
  }
  return global;
}

TEST(NameTable, FindsByPositionAndName) {
  NameTable names("arg", {"w", "x", "x", "arg0"});
  EXPECT_EQ(names.Find("arg0"), std::nullopt) << "one input is the first, another has this name";
  EXPECT_EQ(names.Find("arg1"), 1u);
  EXPECT_EQ(names.Find("w"), 0u);
  EXPECT_EQ(names.Find("arg3"), 3u);
  EXPECT_EQ(names.Find("x"), std::nullopt) << "two inputs have this name";
  EXPECT_EQ(names.Find("arg4"), std::nullopt);
  EXPECT_EQ(names.Find("arg01"), std::nullopt);
  EXPECT_EQ(names.Find("arg"), std::nullopt);
}

TEST(RowFeed, EveryRankCountSeesTheSameRows) {
  TemporaryFolder folder;
  WriteCounting(folder / "d", {{"images", {10, 3}}, {"labels", {10}}});
  auto file = Set(folder / "d");
  std::vector<std::vector<int32_t>> reference;
  for (uint32_t ranks : {1u, 2u, 4u}) {
    const std::vector<InputType> inputs = Inputs(ranks);
    auto feed = RowFeed::Make(file, inputs, {{0, "images"}, {1, "labels"}}, {.seed = 11});
    ASSERT_TRUE(feed.ok()) << feed.status();
    EXPECT_EQ((*feed)->batches_per_epoch(), 2u);
    for (uint64_t step = 0; step < 6; ++step) {
      const std::vector<int32_t> x = Batch(**feed, step, 0, inputs, ranks);
      const std::vector<int32_t> y = Batch(**feed, step, 1, inputs, ranks);
      for (size_t row = 0; row < 4; ++row) EXPECT_EQ(x[row * 3], y[row] * 3) << "rows of x and y must stay together";
      if (ranks == 1) reference.push_back(y);
      EXPECT_EQ(y, reference[step]);
    }
  }
  // Within an epoch no row comes twice, and epochs differ.
  for (size_t epoch = 0; epoch < 3; ++epoch) {
    std::set<int32_t> rows(reference[2 * epoch].begin(), reference[2 * epoch].end());
    rows.insert(reference[2 * epoch + 1].begin(), reference[2 * epoch + 1].end());
    EXPECT_EQ(rows.size(), 8u);
  }
  EXPECT_NE(reference[0], reference[2]);
}

TEST(RowFeed, WithoutSeedKeepsTheOrderOfTheFile) {
  TemporaryFolder folder;
  WriteCounting(folder / "d", {{"y", {10}}});
  const std::vector<InputType> inputs = Inputs(1);
  auto feed = RowFeed::Make(Set(folder / "d"), inputs, {{1, "y"}}, {});
  ASSERT_TRUE(feed.ok()) << feed.status();
  EXPECT_EQ(Batch(**feed, 0, 0, inputs, 1), (std::vector<int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(Batch(**feed, 1, 0, inputs, 1), (std::vector<int32_t>{4, 5, 6, 7}));
  EXPECT_EQ(Batch(**feed, 2, 0, inputs, 1), (std::vector<int32_t>{0, 1, 2, 3}));
}

TEST(RowFeed, PadsTheLastBatchByTheLastRow) {
  TemporaryFolder folder;
  WriteCounting(folder / "d", {{"y", {10}}, {"few", {3}}});
  const std::vector<InputType> inputs = Inputs(2);
  auto feed = RowFeed::Make(Set(folder / "d"), inputs, {{1, "y"}}, {.last = RowOrder::LastBatch::kPadded});
  ASSERT_TRUE(feed.ok()) << feed.status();
  EXPECT_EQ((*feed)->batches_per_epoch(), 3u);
  EXPECT_EQ((*feed)->padding(1), 0u);
  EXPECT_EQ((*feed)->padding(2), 2u);
  EXPECT_EQ(Batch(**feed, 2, 0, inputs, 2), (std::vector<int32_t>{8, 9, 9, 9}));
  auto few = RowFeed::Make(Set(folder / "d"), inputs, {{1, "few"}}, {.last = RowOrder::LastBatch::kPadded});
  ASSERT_TRUE(few.ok()) << few.status();
  EXPECT_EQ((*few)->batches_per_epoch(), 1u);
  EXPECT_EQ((*few)->padding(0), 1u);
}

TEST(RowFeed, ShardsOfOtherDimensionsAreCutFromRows) {
  TemporaryFolder folder;
  WriteCounting(folder / "d", {{"x", {6, 4, 2}}});
  const std::vector<InputType> inputs = {{"x", {ElementType::I32, {2, 4, 2}, {2, 2, 2}, {{}, {{0, 1, 2}}, {}}}}};
  auto feed = RowFeed::Make(Set(folder / "d"), inputs, {{0, "x"}}, {});
  ASSERT_TRUE(feed.ok()) << feed.status();
  std::vector<int32_t> expected(16);
  for (int i = 0; i < 16; ++i) expected[i] = 16 + i;
  EXPECT_EQ(Batch(**feed, 1, 0, inputs, 2), expected);
}

TEST(RowFeed, SaysWhatDoesNotFit) {
  TemporaryFolder folder;
  WriteCounting(folder / "d", {{"x", {10, 3}}, {"wide", {10, 4}}, {"y", {9}}, {"few", {3, 3}}});
  auto file = Set(folder / "d");
  std::vector<InputType> inputs = Inputs(1);
  inputs.push_back({"scalar", {ElementType::I32, {}, {}, {}}});
  inputs.push_back({"z", {ElementType::I32, {5, 3}, {5, 3}, {}}});
  auto message = [&](std::vector<RowFeed::Source> sources) {
    return std::string(RowFeed::Make(file, inputs, sources, {.seed = 0}).status().message());
  };
  EXPECT_THAT(message({{0, "none"}}),
              HasSubstr("tensor 'none': not in the file, but it must feed input 'x'; expected one of 'few', 'wide', "
                        "'x', 'y'; say --feed INPUT=TENSOR"));
  EXPECT_THAT(
      message({{0, "wide"}}),
      HasSubstr("tensor 'wide': is I32[10,4]; its rows do not fit input 'x', I32[4,3]; expected rows I32[3], or "
                "of other integers"));
  EXPECT_THAT(message({{0, "x"}, {1, "y"}}), HasSubstr("tensor 'y': has 9 rows, but 'x' has 10"));
  EXPECT_THAT(message({{0, "few"}}), HasSubstr("has 3 rows, fewer than one batch of 4"));
  EXPECT_THAT(message({{2, "x"}}), HasSubstr("cannot feed input 'scalar', I32[]: it has no rows"));
  EXPECT_THAT(message({{0, "x"}, {3, "x"}}),
              HasSubstr("feeds batches of 5 rows to input 'z', but other inputs take 4"));
  EXPECT_THAT(message({}), HasSubstr("feeds no input"));
}

TEST(CheckTensor, RefusesNumbersThatNarrowIntegersCannotBe) {
  TemporaryFolder folder;
  const auto check = [&](const char* type, unsigned bits, std::string_view values) {
    WriteSafetensors(folder / "d",
                     absl::StrCat(R"({"w":{"dtype":")", type, R"(","shape":[2,2],"data_offsets":[0,4]}})"), values);
    auto file = Open(folder / "d");
    const ElementType element = type[0] == 'I' ? ElementType::I8 : ElementType::U8;
    return std::string(CheckTensor(*file, *file->Find("w"), {"w", {element, {2, 2}, {2, 2}, {}}, bits}).message());
  };
  EXPECT_EQ(check("I8", 0, "\x7f\x80\x7f\x80"), "");
  EXPECT_EQ(check("I8", 4, "\x07\xf8\x07\xf8"), "");
  EXPECT_EQ(check("U8", 4, "\x0f\x01\x0f\x01"), "");
  EXPECT_THAT(check("I8", 4, "\x07\xf8\x08\xf8"),
              HasSubstr("tensor 'w': element [1, 0] is 8; expected -8 to 7, since input 'w' has integers of 4 bits"));
  EXPECT_THAT(check("I8", 2, "\x01\xfd\x01\x01"), HasSubstr("element [0, 1] is -3; expected -2 to 1"));
  EXPECT_THAT(check("U8", 2, "\x01\x02\x03\x04"), HasSubstr("element [1, 1] is 4; expected 0 to 3"));
}

TEST(Integers, OfOtherWidthsAreConvertedWhereEveryValueFits) {
  TemporaryFolder folder;
  const auto write = [&](const char* name, std::vector<int64_t> values) {
    const std::string rows = absl::StrCat(values.size() / 2);
    WriteSafetensors(
        folder / name,
        absl::StrCat(R"({"x":{"dtype":"I64","shape":[)", rows, R"(,2],"data_offsets":[0,)", values.size() * 8, "]}}"),
        std::string_view(reinterpret_cast<const char*>(values.data()), values.size() * 8));
    return folder / name;
  };
  const std::vector<InputType> inputs = {{"x", {ElementType::I32, {2, 2}, {1, 2}, {{{0, 1, 2}}, {}}}}};
  auto feed = RowFeed::Make(Set(write("d", {0, -1, 2, 3, 4, (int64_t{1} << 31) - 1, 6, -(int64_t{1} << 31)})), inputs,
                            {{0, "x"}}, {});
  ASSERT_TRUE(feed.ok()) << feed.status();
  EXPECT_EQ(Batch(**feed, 0, 0, inputs, 2), (std::vector<int32_t>{0, -1, 2, 3}));
  EXPECT_EQ(Batch(**feed, 1, 0, inputs, 2),
            (std::vector<int32_t>{4, std::numeric_limits<int32_t>::max(), 6, std::numeric_limits<int32_t>::min()}));
  EXPECT_THAT(std::string(RowFeed::Make(Set(write("e", {0, 1, 2, int64_t{1} << 31})), inputs, {{0, "x"}}, {.seed = 0})
                              .status()
                              .message()),
              HasSubstr("tensor 'x': element [1, 1] is 2147483648; expected -2147483648 to 2147483647, since input 'x' "
                        "is I32[2,2]"));
  std::vector<InputType> bytes = inputs;
  bytes[0].type.element = ElementType::U8;
  auto file = Open(write("f", {0, 255, -1, 3}));
  EXPECT_THAT(std::string(CheckTensor(*file, *file->Find("x"), bytes[0]).message()),
              HasSubstr("element [1, 0] is -1; expected 0 to 255"));
  bytes[0].type.element = ElementType::F32;
  EXPECT_THAT(std::string(CheckTensor(*file, *file->Find("x"), bytes[0]).message()),
              HasSubstr("is I64[2,2], but input 'x' is F32[2,2]: cast it to F32"));
}

TEST(BatchFeed, CyclesThroughBatches) {
  TemporaryFolder folder;
  WriteCounting(folder / "b", {{"step0.y", {4}}, {"step1.arg1", {4}}}, 5);
  const std::vector<InputType> inputs = Inputs(2);
  auto feed = BatchFeed::Make(Open(folder / "b"), inputs, NameTable("arg", {"x", "y"}));
  ASSERT_TRUE(feed.ok()) << feed.status();
  EXPECT_EQ((*feed)->batches(), 2u);
  ASSERT_EQ((*feed)->inputs().size(), 1u);
  EXPECT_EQ((*feed)->inputs()[0], 1u);
  EXPECT_EQ(Batch(**feed, 0, 0, inputs, 2), (std::vector<int32_t>{5, 6, 7, 8}));
  EXPECT_EQ(Batch(**feed, 3, 0, inputs, 2), (std::vector<int32_t>{5, 6, 7, 8}));
}

TEST(BatchFeed, SaysWhatDoesNotFit) {
  TemporaryFolder folder;
  const std::vector<InputType> inputs = Inputs(1);
  auto message = [&](std::vector<std::pair<std::string, Dims>> tensors) {
    WriteCounting(folder / "b", tensors);
    auto feed = BatchFeed::Make(Open(folder / "b"), inputs, NameTable("arg", {"x", "y"}));
    return std::string(feed.status().message());
  };
  EXPECT_THAT(message({{"x", {4, 3}}}), HasSubstr("tensor 'x': batches are named stepK.argN or stepK.<input>"));
  EXPECT_THAT(message({{"step0.z", {4}}}),
              HasSubstr("tensor 'step0.z': the program has no input 'z'; there are 'x', 'y'"));
  EXPECT_THAT(message({{"step0.y", {5}}}),
              HasSubstr("tensor 'step0.y': is I32[5], but input 'y' is I32[4]: dimension 0 is 5 and not 4; "));
  EXPECT_THAT(message({{"step0.y", {4}}, {"step0.arg1", {4}}}), HasSubstr("input 'y' occurs twice in this step"));
  EXPECT_THAT(message({{"step1.y", {4}}}), HasSubstr("has no tensors for step0, but for step1"));
  EXPECT_THAT(message({{"step0.y", {4}}, {"step1.x", {4, 3}}}),
              HasSubstr("step1 does not give input 'y', other steps do"));
  EXPECT_THAT(message({{"step0.y", {4}}, {"step1.y", {4}}, {"step1.x", {4, 3}}}),
              HasSubstr("step1 gives more inputs than step0"));
  EXPECT_THAT(message({}), HasSubstr("holds no batch"));
}

}  // namespace
}  // namespace sgd::data
