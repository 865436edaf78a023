// Shards of all ranks together are the tensor: checked for every sharding of small tensors over
// small meshes.
#include "runtime/data/shard.h"

#include <gtest/gtest.h>

#include <numeric>

#include "runtime/data/random_values.h"
#include "runtime/data/shuffle.h"
#include "tests/runtime/data/tensor_files.h"

namespace sgd::data {
namespace {

TensorType Type(Dims dims, std::vector<std::vector<comm::AxisRef>> sharding, ElementType element = ElementType::I32) {
  TensorType type{element, dims, dims, sharding};
  for (size_t d = 0; d < sharding.size(); ++d) {
    const uint64_t parts = comm::AxesSize(sharding[d]);
    type.local_dims[d] = (dims[d] + parts - 1) / parts;
  }
  return type;
}

std::vector<int32_t> Counting(uint64_t count) {
  std::vector<int32_t> values(count);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

// Cuts a counting tensor into the ranks' shards and puts it together again from first replicas
// alone.
void CheckRoundTrip(const TensorType& type, const comm::Mesh& mesh) {
  const uint64_t count =
      std::accumulate(type.global_dims.begin(), type.global_dims.end(), uint64_t{1}, std::multiplies<>());
  const std::vector<int32_t> global = Counting(count);
  std::vector<int32_t> rebuilt(count, 0);
  uint64_t written = 0;
  for (uint32_t rank = 0; rank < mesh.ranks(); ++rank) {
    Shard shard(type, mesh, rank);
    std::vector<int32_t> local(shard.local_bytes() / 4, -1);
    shard.CopyIn(std::as_bytes(std::span(global)), std::as_writable_bytes(std::span(local)));
    for (int32_t value : local) EXPECT_NE(value, -1) << "an element of the shard was not written";
    if (!shard.is_first_replica()) continue;
    shard.CopyOut(std::as_bytes(std::span(local)), std::as_writable_bytes(std::span(rebuilt)));
    shard.ForEachRun([&](uint64_t, uint64_t, uint64_t bytes) { written += bytes / 4; });
  }
  EXPECT_EQ(rebuilt, global);
  EXPECT_EQ(written, count) << "first replicas overlap";
}

// 12 rows as 3 blocks over 2 ranks: rank 1 has the second half of each block.
TEST(Shard, BlocksAreShardedOneByOne) {
  const comm::Mesh mesh{{2}};
  TensorType type{ElementType::I32, {12, 2}, {6, 2}, {{{0, 1, 2}}, {}}, {3, 1}};
  CheckRoundTrip(type, mesh);
  const std::vector<int32_t> global = Counting(24);
  std::vector<int32_t> local(12);
  Shard(type, mesh, 1).CopyIn(std::as_bytes(std::span(global)), std::as_writable_bytes(std::span(local)));
  EXPECT_EQ(local, (std::vector<int32_t>{5, 6, 7, 8, 13, 14, 15, 16, 21, 22, 23, 24}));
  TensorType whole = type;
  whole.blocks = {1, 1};
  EXPECT_FALSE(type == whole);
}

// 3 blocks of 5 rows over 2 ranks: a rank's part of each is padded to 3 rows.
TEST(Shard, BlocksMayBePadded) { CheckRoundTrip({ElementType::I32, {15}, {9}, {{{0, 1, 2}}}, {3}}, comm::Mesh{{2}}); }

std::vector<int32_t> RowsOf(const TensorType& type, const comm::Mesh& mesh, uint32_t rank) {
  const std::vector<int32_t> global = Counting(type.global_dims[0]);
  Shard shard(type, mesh, rank);
  std::vector<int32_t> local(shard.local_bytes() / 4, -1);
  shard.CopyIn(std::as_bytes(std::span(global)), std::as_writable_bytes(std::span(local)));
  return local;
}

// The table in shard.h: 16 rows in 2 blocks over 5 ranks, in tiles of 2.
TEST(Shard, TilesOfBlocksFollowOneAnother) {
  const comm::Mesh mesh{{5}};
  const TensorType type{ElementType::I32, {16}, {4}, {{{0, 1, 5}}}, {2}};
  CheckRoundTrip(type, mesh);
  EXPECT_EQ(RowsOf(type, mesh, 0), (std::vector<int32_t>{1, 2, 11, 12}));
  EXPECT_EQ(RowsOf(type, mesh, 2), (std::vector<int32_t>{5, 6, 15, 16}));
  EXPECT_EQ(RowsOf(type, mesh, 4), (std::vector<int32_t>{9, 10, 0, 0}));
  EXPECT_TRUE(Shard(type, mesh, 4).has_padding());
  EXPECT_FALSE(Shard(type, mesh, 0).has_padding());
}

// On one rank rows are as in the file, with padding behind them: one run.
TEST(Shard, BlocksOfOneRankAreOneRun) {
  const TensorType type{ElementType::I32, {10, 2}, {12, 2}, {{}, {}}, {4, 1}};
  CheckRoundTrip(type, {});
  uint64_t runs = 0;
  Shard(type, {}, 0).ForEachRun([&](uint64_t, uint64_t, uint64_t bytes) {
    ++runs;
    EXPECT_EQ(bytes, 80u);
  });
  EXPECT_EQ(runs, 1u);
}

TEST(Shard, EmptyBlocksTakeNoTime) { CheckRoundTrip({ElementType::I32, {0}, {0}, {{}}, {uint64_t{1} << 60}}, {}); }

TEST(Shard, BlocksOfAnyNumberOfRowsMakeTheWhole) {
  const comm::Mesh mesh{{2, 3}};
  const std::vector<std::vector<comm::AxisRef>> choices = {{}, {{0, 1, 2}}, {{1, 1, 3}}, {{0, 1, 2}, {1, 1, 3}}};
  for (uint64_t rows = 0; rows < 14; ++rows) {
    for (uint64_t blocks = 1; blocks < 5; ++blocks) {
      for (const auto& axes : choices) {
        const uint64_t tiles = blocks * comm::AxesSize(axes);
        // Tiles as small as they can be, and larger ones.
        for (uint64_t tile = (rows + tiles - 1) / tiles; tile < (rows + tiles - 1) / tiles + 2; ++tile) {
          if (blocks == 1 && tile != (rows + tiles - 1) / tiles) continue;
          CheckRoundTrip({ElementType::I32, {rows, 2}, {tile * blocks, 2}, {axes, {}}, {blocks, 1}}, mesh);
          CheckRoundTrip({ElementType::I32, {3, rows}, {3, tile * blocks}, {{}, axes}, {1, blocks}}, mesh);
        }
      }
    }
  }
}

// 7 rows over stages of 2 ranks each, some of which have several ranges, and each range is sharded by itself.
TensorType Spread(const std::vector<std::vector<RowRange>>& rows,
                  const std::vector<std::vector<comm::AxisRef>>& sharding) {
  TensorType type = Type({7, 3}, sharding);
  for (const std::vector<RowRange>& ranges : rows) {
    TensorType& own = type.stages.emplace_back(Type({7, 3}, sharding));
    own.rows = ranges;
    const uint64_t shards = sharding.empty() ? 1 : comm::AxesSize(sharding[0]);
    own.local_dims[0] = 0;
    for (const RowRange& range : ranges) own.local_dims[0] += (range.count + shards - 1) / shards;
  }
  return type;
}

TEST(Shard, RowsOfStagesMakeTheWhole) {
  const comm::Mesh mesh{{3, 2}};
  const comm::AxisRef data{1, 1, 2};
  const std::vector<std::vector<std::vector<RowRange>>> cuts = {
      {{{0, 2}}, {{2, 4}}, {{6, 1}}}, {{{0, 1}, {4, 3}}, {{1, 3}}, {}}, {{{6, 1}}, {}, {{0, 6}}}};
  const std::vector<std::vector<std::vector<comm::AxisRef>>> shardings = {{}, {{data}, {}}, {{}, {data}}};
  for (const auto& rows : cuts) {
    for (const auto& sharding : shardings) CheckRoundTrip(Spread(rows, sharding), mesh);
  }
  // One stage cuts its rows in another way than the others.
  TensorType mixed = Spread(cuts[0], {});
  mixed.stages[1] = Spread(cuts[0], {{data}, {}}).stages[1];
  CheckRoundTrip(mixed, mesh);
}

TEST(Shard, RangesAreOneBehindTheOther) {
  const comm::Mesh mesh{{2, 2}};
  const TensorType type = Spread({{{0, 1}, {4, 3}}, {{1, 3}}}, {{{1, 1, 2}}, {}});
  const Shard shard(type, mesh, 1);  // the second rank of stage 0
  EXPECT_EQ(shard.type().local_dims, (Dims{3, 3}));
  EXPECT_TRUE(shard.has_padding());
  EXPECT_TRUE(Shard(type, mesh, 2).is_first_replica());
  const std::vector<int32_t> global = Counting(21);
  std::vector<int32_t> local(9, -1);
  shard.CopyIn(std::as_bytes(std::span(global)), std::as_writable_bytes(std::span(local)));
  EXPECT_EQ(local, (std::vector<int32_t>{0, 0, 0, 19, 20, 21, 0, 0, 0}));
  EXPECT_FALSE(type == Spread({{{0, 4}}, {{4, 3}}}, {{{1, 1, 2}}, {}}));
  EXPECT_FALSE(type == Spread({{{0, 1}, {4, 3}}, {{1, 3}}}, {}));
}

TEST(Shard, PartsOfAllRanksMakeTheWhole) {
  const comm::Mesh mesh{{2, 4}};
  const std::vector<std::vector<comm::AxisRef>> choices = {
      {}, {{0, 1, 2}}, {{1, 1, 4}}, {{1, 1, 2}}, {{1, 2, 2}}, {{0, 1, 2}, {1, 1, 4}}, {{1, 2, 2}, {0, 1, 2}}};
  auto overlap = [](const std::vector<comm::AxisRef>& a, const std::vector<comm::AxisRef>& b) {
    for (const comm::AxisRef& x : a)
      for (const comm::AxisRef& y : b)
        if (x.axis == y.axis) return true;
    return false;
  };
  for (const Dims& dims : {Dims{8, 8, 3}, Dims{7, 5, 2}, Dims{1, 9, 1}}) {
    for (const auto& first : choices) {
      for (const auto& second : choices) {
        if (!overlap(first, second)) CheckRoundTrip(Type(dims, {first, second, {}}), mesh);
      }
      CheckRoundTrip(Type(dims, {{}, {}, first}), mesh);
    }
  }
  CheckRoundTrip(Type({}, {}), mesh);
  CheckRoundTrip(Type({5}, {}), comm::Mesh{});
}

TEST(Shard, PlacesBlocksRowMajorOverTheMesh) {
  const comm::Mesh mesh{{2, 2}};
  Shard shard(Type({4, 6}, {{{1, 1, 2}}, {{0, 1, 2}}}), mesh, 1);  // coordinates (0, 1)
  EXPECT_EQ(shard.begin(), (Dims{2, 0}));
  EXPECT_EQ(shard.extent(), (Dims{2, 3}));
  EXPECT_TRUE(shard.is_first_replica());
  EXPECT_FALSE(Shard(Type({4}, {{{1, 1, 2}}}), mesh, 2).is_first_replica());
}

TEST(Shard, PaddingOfUnevenShardsIsZero) {
  const comm::Mesh mesh{{4}};
  const TensorType type = Type({5}, {{{0, 1, 4}}});  // 2 + 2 + 1 + 0
  const std::vector<int32_t> global = Counting(5);
  std::vector<int32_t> local(2, -1);
  Shard(type, mesh, 2).CopyIn(std::as_bytes(std::span(global)), std::as_writable_bytes(std::span(local)));
  EXPECT_EQ(local, (std::vector<int32_t>{5, 0}));
  Shard(type, mesh, 3).CopyIn(std::as_bytes(std::span(global)), std::as_writable_bytes(std::span(local)));
  EXPECT_EQ(local, (std::vector<int32_t>{0, 0}));
}

TEST(TensorType, EqualityIsThatOfTheCut) {
  const TensorType replicated = Type({4, 4}, {});
  EXPECT_EQ(replicated, Type({4, 4}, {{}, {}}));
  EXPECT_EQ(replicated, Type({4, 4}, {{{0, 1, 1}}, {}}));
  EXPECT_FALSE(replicated == Type({4, 4}, {{{0, 1, 2}}, {}}));
  EXPECT_FALSE(Type({4, 4}, {{{1, 1, 2}}, {}}) == Type({4, 4}, {{{0, 1, 2}}, {}}));
  EXPECT_FALSE(replicated == Type({4, 4}, {}, ElementType::F32));
  EXPECT_FALSE(replicated == Type({4, 3}, {}));
}

TEST(Shard, RunsAreAsLongAsTheyCanBe) {
  const comm::Mesh mesh{{2}};
  uint64_t runs = 0;
  auto count = [&](uint64_t, uint64_t, uint64_t) { ++runs; };
  Shard(Type({4, 6}, {{{0, 1, 2}}, {}}), mesh, 1).ForEachRun(count);
  EXPECT_EQ(runs, 1u);
  Shard(Type({4, 6}, {{}, {{0, 1, 2}}}), mesh, 1).ForEachRun(count);
  EXPECT_EQ(runs, 5u);
}

TEST(RandomValues, DoNotDependOnTheNumberOfRanks) {
  const TensorType whole = Type({6, 4}, {}, ElementType::F32);
  std::vector<float> global(24);
  FillRandom(Shard(whole, {}, 0), 7, 3, std::as_writable_bytes(std::span(global)));
  for (float value : global) {
    EXPECT_GE(value, 0.01f);
    EXPECT_LT(value, 0.1f);
  }
  const comm::Mesh mesh{{2}};
  const TensorType cut = Type({6, 4}, {{}, {{0, 1, 2}}}, ElementType::F32);
  std::vector<float> rebuilt(24);
  for (uint32_t rank = 0; rank < 2; ++rank) {
    Shard shard(cut, mesh, rank);
    std::vector<float> local(12);
    FillRandom(shard, 7, 3, std::as_writable_bytes(std::span(local)));
    shard.CopyOut(std::as_bytes(std::span(local)), std::as_writable_bytes(std::span(rebuilt)));
  }
  EXPECT_EQ(rebuilt, global);
  std::vector<float> other(24);
  FillRandom(Shard(whole, {}, 0), 7, 4, std::as_writable_bytes(std::span(other)));
  EXPECT_NE(other, global);
}

TEST(RandomValues, AreTheSameInParts) {
  for (const ElementType element : {ElementType::F32, ElementType::F64, ElementType::BF16, ElementType::F16,
                                    ElementType::F8E4M3FN, ElementType::F8E5M2, ElementType::I32}) {
    const uint64_t size = artifact::ElementSize(element);
    std::vector<std::byte> whole(1000 * size, std::byte{1}), parts(1000 * size, std::byte{2});
    FillRandom(Shard(Type({10, 100}, {}, element), {}, 0), 7, 3, whole);
    for (const auto& [begin, end] : {std::pair<uint64_t, uint64_t>{0, 1}, {1, 517}, {517, 1000}}) {
      FillRandomRun(element, 7, 3, begin, std::span(parts).subspan(begin * size, (end - begin) * size));
    }
    EXPECT_EQ(whole, parts) << static_cast<int>(element);
  }
  // The values of SplitMix64 at counters, which earlier artifacts were measured with.
  std::vector<float> values(3);
  FillRandomRun(ElementType::F32, 7, 3, 1000000, std::as_writable_bytes(std::span(values)));
  for (uint64_t i = 0; i < 3; ++i) {
    const float unit = static_cast<float>(Mix(Mix(Mix(7) + 3) ^ (1000000 + i)) >> 40) * 0x1p-24f;
    EXPECT_EQ(values[i], 0.01f + unit * 0.09f);
  }
}

TEST(RandomValues, SuitEachElementType) {
  std::vector<uint16_t> half(64);
  FillRandom(Shard(Type({64}, {}, ElementType::F16), {}, 0), 1, 0, std::as_writable_bytes(std::span(half)));
  for (uint16_t bits : half) {
    const float value = std::ldexp(1.0f + static_cast<float>(bits & 0x3ff) / 1024, (bits >> 10) - 15);
    EXPECT_GE(value, 0.0099f);
    EXPECT_LT(value, 0.1f);
  }
  std::vector<uint8_t> bytes(64);
  FillRandom(Shard(Type({64}, {}, ElementType::F8E4M3FN), {}, 0), 1, 0, std::as_writable_bytes(std::span(bytes)));
  for (uint8_t code : bytes) {
    const int exponent = code >> 3, mantissa = code & 7;
    const double value = std::ldexp(exponent == 0 ? mantissa : 8 + mantissa, std::max(exponent, 1) - 10);
    EXPECT_GE(value, 0.0078);
    EXPECT_LT(value, 0.1);
  }
  std::vector<int32_t> integers(4, 9);
  FillRandom(Shard(Type({4}, {}), {}, 0), 1, 0, std::as_writable_bytes(std::span(integers)));
  EXPECT_EQ(integers, std::vector<int32_t>(4, 0));
}

// Of 2 x 3 ranks those with index 1 on the second axis own the tensor, and the first of them writes it.
TEST(Shard, OwnersHoldAll) {
  const comm::Mesh mesh{{2, 3}};
  TensorType type = Type({4, 2}, {});
  type.owner = {{1, 1, 3}};
  type.owner_index = 1;
  CheckRoundTrip(type, mesh);
  for (uint32_t rank = 0; rank < mesh.ranks(); ++rank) {
    const Shard shard(type, mesh, rank);
    EXPECT_EQ(shard.has_rows(), rank % 3 == 1);
    EXPECT_EQ(shard.local_bytes(), rank % 3 == 1 ? 32u : 0u);
    EXPECT_EQ(shard.is_first_replica(), rank == 1);
  }
  TensorType other = type;
  other.owner_index = 2;
  EXPECT_FALSE(type == other);
  EXPECT_FALSE(type == Type({4, 2}, {}));
  // Owners may share the rows.
  TensorType shared = Type({4, 2}, {{{0, 1, 2}}, {}});
  shared.owner = type.owner;
  shared.owner_index = 2;
  CheckRoundTrip(shared, mesh);
}

}  // namespace
}  // namespace sgd::data
