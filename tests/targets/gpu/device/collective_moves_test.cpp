// Ranks send what their peers expect, move by move.
#include "targets/gpu/device/collective_moves.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "conformance_cases.h"
#include "runtime/comm/collectives/staged_bytes.h"

namespace sgd::cuda {
namespace {

using comm::CollectiveKind;

comm::CollectiveSpec SpecOf(CollectiveKind kind, const comm::Mesh& mesh) {
  comm::CollectiveSpec spec;
  spec.kind = kind;
  spec.axes = {{0, 1, mesh.axis_sizes[0]}};
  spec.from_axes = spec.to_axes = spec.axes;
  comm::CollectiveOperand operand;
  operand.element = comm::ElementType::kF32;
  operand.target_offset = 1 << 16;
  const uint64_t n = mesh.axis_sizes[0];
  operand.outer = 3, operand.inner = 5;
  operand.count = 15;
  if (kind == CollectiveKind::kAllToAll) {
    operand.dims = {2, 3 * n, 4, 5};
    operand.split = 1, operand.concat = 2;
    operand.count = 2 * 3 * n * 4 * 5;
  } else if (kind == CollectiveKind::kGatherRange) {
    operand.range = {.size = 4 * n - 1, .tile = 4, .length = 6, .scale = 4, .offset = -1};
    operand.count = 3 * 4 * 5;
  }
  spec.operands = {operand};
  return spec;
}

TEST(CollectiveMoves, BothSidesAgree) {
  for (CollectiveKind kind : {CollectiveKind::kAllGather, CollectiveKind::kAllToAll, CollectiveKind::kPermute,
                              CollectiveKind::kBroadcast, CollectiveKind::kGatherRange}) {
    for (uint32_t n : {1u, 2u, 3u, 4u}) {
      SCOPED_TRACE(static_cast<int>(kind));
      const comm::Mesh mesh{{n}};
      const comm::CollectiveSpec spec = SpecOf(kind, mesh);
      ASSERT_TRUE(comm::CheckSpec(mesh, spec, 1 << 20).ok()) << comm::CheckSpec(mesh, spec, 1 << 20);
      std::vector<MoveList> lists;
      for (uint32_t rank = 0; rank < n; ++rank)
        lists.push_back(*MovesOf(mesh, spec, *comm::MakeCollectivePlan(mesh, spec, rank, 0, 0)));
      size_t between = 0;
      for (uint32_t from = 0; from < n; ++from) {
        for (uint32_t to = 0; to < n; ++to) {
          std::vector<const Move*> sent, received;
          for (const Move& move : lists[from].moves) {
            if (move.from == from && move.to == to) sent.push_back(&move);
          }
          for (const Move& move : lists[to].moves) {
            if (move.from == from && move.to == to) received.push_back(&move);
          }
          ASSERT_EQ(sent.size(), received.size());
          for (size_t i = 0; i < sent.size(); ++i) {
            EXPECT_EQ(sent[i]->bytes(), received[i]->bytes());
            EXPECT_EQ(sent[i]->target_offset, received[i]->target_offset);
          }
          if (from != to) between += sent.size();
        }
      }
      if (n > 1 && kind != CollectiveKind::kPermute) EXPECT_GT(between, 0u);
    }
  }
}

// The plan has room for the rank that packs most.
TEST(CollectiveMoves, ThePlanHoldsWhatIsPacked) {
  uint64_t packing = 0;
  for (CollectiveKind kind : {CollectiveKind::kAllToAll, CollectiveKind::kPermute, CollectiveKind::kBroadcast,
                              CollectiveKind::kGatherRange}) {
    for (const comm::Shape& shape : comm::AllShapes()) {
      if (comm::AxesSize(shape.axes) == 1) continue;
      const std::vector<comm::Case> cases = comm::AllCases(shape, kind);
      for (size_t i = 0; i < cases.size(); i += 1 + shape.mesh.ranks() / 2) {  // fewer of what takes long
        const comm::Case& test = cases[i];
        std::vector<uint64_t> packed(shape.mesh.ranks());
        for (uint32_t rank = 0; rank < packed.size(); ++rank) {
          const auto plan = comm::MakeCollectivePlan(shape.mesh, test.spec, rank, 0, 0);
          const auto list = MovesOf(shape.mesh, test.spec, *plan);
          for (const Move& move : list->moves) {
            if (move.from == move.to) continue;
            const bool is_dense = move.from == plan->position ? move.IsDenseAtSource() : move.IsDenseAtTarget();
            if (!is_dense) packed[rank] += comm::PieceBytes(move.bytes());
          }
        }
        const uint64_t most = *std::ranges::max_element(packed);
        EXPECT_EQ(most, comm::StagedBytes(shape.mesh, test.spec)) << shape.name << " " << comm::CollectiveName(kind);
        packing += most > 0;
      }
    }
  }
  EXPECT_GT(packing, 100u);
}

}  // namespace
}  // namespace sgd::cuda
