// A tensor cut one way and cut anew another way is the same tensor, for every pair of shardings of
// a small mesh.
#include "runtime/train/redistribute.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/runtime/comm/meeting_threads.h"

namespace sgd::train {
namespace {

data::TensorType Type(data::Dims dims, std::vector<std::vector<comm::AxisRef>> sharding) {
  data::TensorType type{data::ElementType::I32, dims, dims, sharding};
  for (size_t d = 0; d < sharding.size(); ++d) {
    const uint64_t parts = comm::AxesSize(sharding[d]);
    type.local_dims[d] = (dims[d] + parts - 1) / parts;
  }
  return type;
}

std::vector<std::byte> Cut(const std::vector<int32_t>& global, const data::TensorType& type, const comm::Mesh& mesh,
                           uint32_t rank) {
  const data::Shard shard(type, mesh, rank);
  std::vector<std::byte> local(shard.local_bytes());
  shard.CopyIn(std::as_bytes(std::span(global)), local);
  return local;
}

TEST(Redistribute, EveryPairOfShardings) {
  const comm::Mesh mesh{{2, 2}};
  const comm::AxisRef x{0, 1, 2}, y{1, 1, 2};
  const data::Dims dims = {6, 5};  // the second does not divide
  std::vector<int32_t> global(30);
  std::iota(global.begin(), global.end(), 1);
  std::vector<data::TensorType> types;
  for (const std::vector<std::vector<comm::AxisRef>>& sharding : std::vector<std::vector<std::vector<comm::AxisRef>>>{
           {{}, {}}, {{x}, {}}, {{}, {x}}, {{x}, {y}}, {{y}, {x}}, {{}, {y, x}}}) {
    types.push_back(Type(dims, sharding));
  }
  for (const data::TensorType& from : types) {
    for (const data::TensorType& to : types) {
      std::vector<absl::Status> outcomes = comm::RunMeetingRanks(4, [&](comm::Control& control) {
        const uint32_t rank = control.rank();
        auto bytes = Redistribute(Cut(global, from, mesh, rank), from, to, mesh, {}, control, absl::Seconds(10));
        if (!bytes.ok()) return bytes.status();
        return *bytes == Cut(global, to, mesh, rank) ? absl::OkStatus() : absl::InternalError("wrong bytes");
      });
      for (const absl::Status& outcome : outcomes) EXPECT_TRUE(outcome.ok()) << outcome;
    }
  }
}

// What the ranks of one stage have, for all stages, which cut it in another way.
TEST(Redistribute, FromOneStageToAll) {
  const comm::Mesh mesh{{3, 2}};
  const comm::AxisRef data{1, 1, 2};
  std::vector<int32_t> global(30);
  std::iota(global.begin(), global.end(), 1);
  const data::TensorType rows = Type({6, 5}, {{data}, {}}), columns = Type({6, 5}, {{}, {data}}),
                         whole = Type({6, 5}, {{}, {}});
  for (const data::TensorType& from : {rows, whole}) {
    for (const data::TensorType& to : {rows, columns, whole}) {
      for (const int32_t stage : {0, 1, 2}) {
        std::vector<absl::Status> outcomes = comm::RunMeetingRanks(6, [&](comm::Control& control) {
          const uint32_t rank = control.rank();
          std::vector<std::byte> mine;
          if (static_cast<int32_t>(rank / 2) == stage) mine = Cut(global, from, mesh, rank % 2);
          auto bytes = Redistribute(mine, from, to, mesh, {stage, 2}, control, absl::Seconds(10));
          if (!bytes.ok()) return bytes.status();
          return *bytes == Cut(global, to, mesh, rank % 2) ? absl::OkStatus() : absl::InternalError("wrong bytes");
        });
        for (const absl::Status& outcome : outcomes) EXPECT_TRUE(outcome.ok()) << outcome;
      }
    }
  }
}

// Between stages that have rows of their own, other rows of their own, and all rows.
TEST(Redistribute, RowsOfStages) {
  const comm::Mesh mesh{{3, 2}};
  const comm::AxisRef data{1, 1, 2};
  std::vector<int32_t> global(30);
  std::iota(global.begin(), global.end(), 1);
  const data::TensorType whole = Type({6, 5}, {{}, {}});
  data::TensorType thirds = whole, uneven = whole;
  auto add = [](data::TensorType& type, data::TensorType stage, std::vector<data::RowRange> rows, uint64_t count) {
    stage.rows = std::move(rows);
    stage.local_dims[0] = count;
    type.stages.push_back(std::move(stage));
  };
  for (uint64_t stage : {0, 1, 2}) add(thirds, Type({6, 5}, {{}, {data}}), {{2 * stage, 2}}, 2);
  add(uneven, Type({6, 5}, {{data}, {}}), {{0, 1}, {4, 2}}, 2);
  add(uneven, whole, {}, 0);
  add(uneven, Type({6, 5}, {{data}, {}}), {{1, 3}}, 2);
  for (const data::TensorType& from : {thirds, uneven, whole}) {
    for (const data::TensorType& to : {thirds, uneven, whole}) {
      auto cut = [&](const data::TensorType& type, uint32_t rank) {
        return Cut(global, type, mesh, type.is_spread() ? rank : rank % 2);
      };
      std::vector<absl::Status> outcomes = comm::RunMeetingRanks(6, [&](comm::Control& control) {
        const uint32_t rank = control.rank();
        std::vector<std::byte> mine;
        if (from.is_spread() || rank / 2 == 1) mine = cut(from, rank);
        auto bytes = Redistribute(mine, from, to, mesh, {1, 2}, control, absl::Seconds(10));
        if (!bytes.ok()) return bytes.status();
        return *bytes == cut(to, rank) ? absl::OkStatus() : absl::InternalError("wrong bytes");
      });
      for (const absl::Status& outcome : outcomes) EXPECT_TRUE(outcome.ok()) << outcome;
    }
  }
}

}  // namespace
}  // namespace sgd::train
